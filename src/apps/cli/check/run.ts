import { reasons } from '../../../core/decision/index.ts';
import { mapBatches, fileName, printable } from '../../../core/base/index.ts';
import { decideOffline } from '../../answers/decide-offline.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import {
  type Decider,
  isUndecided,
  isUnwanted,
  type ReportedDecision,
  ListPosition,
  targets,
} from '../../answers/input/targets.ts';
import { assertStdinOnce } from '../../answers/input/load-robots.ts';
import {
  agentSentence,
  delaySentence,
  looksNote,
  looksSentence,
  purposeSentence,
  ruleText,
  truncatedSentence,
} from '../../answers/text/sentences.ts';
import { ago, ahead, count, definitions, duration, type Palette } from '../../answers/text/layout.ts';
import { reasonText, whySentence } from '../../answers/text/reasons.ts';
import { renderRecord } from '../../answers/text/json.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { type Kind, type ListLayout, ListReport } from '../frame/list-report.ts';
import type { Format } from '../frame/options.ts';
import { onlineSettings, readForm, readPurpose } from '../frame/settings.ts';

/** At most 512 URLs are in progress at once. The client limits its fetches; this limits the URLs that wait for them. */
const IN_ORDER = { concurrency: 512, ordered: true };
const STDIN = '-';

/** Decides each URL, in input order. */
export async function checkUrls(given: ParsedArguments, session: Session): Promise<ExitCode> {
  assertOperands(given);
  const form = readForm(given);
  const { signal } = session;
  const list = new ListPosition(session.stdin);
  const isLong = given.switches.has('long') || (given.operands.length === 1 && given.operands[0] !== STDIN);
  const report = new ListReport(session, isLong ? longLayout() : checkLayout, {
    form,
    given,
    share: showsProgress(form, given, session) ? () => list.share : undefined,
  });
  let decider: Decider | undefined;
  try {
    const ready = await deciderFor(given, session, signal);
    decider = ready;
    const inputs = targets(given.operands, session.stdin);
    for await (const results of mapBatches(inputs, IN_ORDER, (target) => ready.decide(target))) {
      const last = results.at(-1);
      if (last !== undefined) list.reach(last.target);
      await report.add(results);
    }
    signal.throwIfAborted();
    return await report.finish();
  } catch (error) {
    const { line } = list;
    // Results are in order, so every line before this one has its result.
    if (session.signal.aborted && line > 0) {
      report.interrupted(`line ${line} of the list; \`tail -n +${line + 1}\` prints the rest of it`);
    }
    throw error;
  } finally {
    report.clearProgress();
    await decider?.close();
  }
}

const longLayout = (): typeof checkLayout => ({
  ...checkLayout,
  long: (decision, colours, width) => renderDecision(decision, colours, { now: Date.now(), width }),
});

/** On a terminal, progress lines would mix with the JSON. */
function showsProgress(form: Format | 'quiet', { operands }: ParsedArguments, { stderr }: Session): boolean {
  return operands.includes(STDIN) && (form === 'text' || (form === 'json' && stderr.isTTY !== true));
}

/** @throws UsageError without a URL, and when standard input would be read twice. */
function assertOperands({ operands, values }: ParsedArguments): void {
  if (operands.length === 0) {
    throw new UsageError('Expected at least one URL, or "-" to read them from standard input, got none');
  }
  assertStdinOnce(operands);
  if (operands.includes(STDIN) && values.get('robots')?.[0] === STDIN) {
    throw new UsageError(
      'Expected "-" either for --robots or for the URLs, got both; read one of them from a file',
    );
  }
}

async function deciderFor(given: ParsedArguments, session: Session, signal: AbortSignal): Promise<Decider> {
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  const purpose = readPurpose(given);
  if (file === undefined) {
    return (await import('../frame/open-client.ts')).decideOnline(settings, session, signal, purpose);
  }
  if (settings.evidence !== undefined) {
    throw new UsageError(
      'Expected either --evidence or --robots, got both: evidence is of what was fetched; leave one of them out',
    );
  }
  const warn = (message: string): void => void session.stderr.write(`canfetch: ${message}\n`);
  const { agents, profile } = settings;
  return decideOffline({ agents, profile, file, stdin: session.stdin, warn, purpose });
}

/** One line of the explanation: a label and its text. */
export type Field = readonly [label: string, text: string];

/** Renders a decision as text: the verdict, and below it the agent, the deciding rule and the robots.txt. */
export function renderDecision(
  decision: ReportedDecision,
  colours: Palette,
  { now, width }: { readonly now: number; readonly width: number | undefined },
): string {
  const fields: readonly (Field | undefined)[] = [
    agentField(decision),
    ruleField(decision),
    purposeField(decision),
    whyField(decision),
    robotsField(decision),
    looksField(decision),
    fileField(decision),
    cacheField(decision, now),
    delayField(decision),
    retryField(decision, now),
  ];
  const shown = fields.filter((field) => field !== undefined);
  return `${[verdictLine(decision, colours), ...definitions(shown, width, colours.faint)].join('\n')}\n`;
}

export function verdictLine(decision: ReportedDecision, colours: Palette): string {
  const { label, style } = kindOf(decision);
  return `${colours[style](label)}${' '.repeat(12 - label.length)}${printable(decision.url)}`;
}

export function agentField({ agent, group, reason }: ReportedDecision): Field {
  return ['agent', agentSentence(agent, group, reason === 'no-group')];
}

export function ruleField({ rule, reason }: ReportedDecision): Field | undefined {
  if (rule !== undefined) return ['rule', ruleText(rule)];
  if (reason !== 'no-rule') return undefined;
  const { what, so } = reasons[reason];
  return ['rule', `${what}, so ${so}`];
}

function whyField(decision: ReportedDecision): Field | undefined {
  const why = whySentence(decision);
  return why === undefined ? undefined : ['why', why];
}

function robotsField({ robots, reason }: ReportedDecision): Field | undefined {
  if (!('finalUrl' in robots)) return ['robots', fileName(robots.file)];
  if (reason === 'robots-txt') return undefined;
  const way = robots.hops === 0 ? [] : [`${count(robots.hops, 'redirect')} from ${printable(robots.url)}`];
  const status = robots.status === undefined ? [] : [String(robots.status)];
  return ['robots', [printable(robots.finalUrl), ...status, ...way].join('  ')];
}

export function looksField({ robots: { suspect } }: ReportedDecision): Field | undefined {
  return suspect === undefined ? undefined : ['looks', looksSentence(suspect)];
}

export function fileField({ robots: { truncated } }: ReportedDecision): Field | undefined {
  return truncated === undefined ? undefined : ['file', truncatedSentence()];
}

function cacheField({ robots }: ReportedDecision, now: number): Field | undefined {
  if (!('finalUrl' in robots) || robots.fetchedAt === undefined) return undefined;
  const { fetchedAt, staleAt } = robots;
  const fresh =
    staleAt === undefined ? '' : staleAt > now ? `, fresh for ${duration(staleAt - now)}` : ', stale';
  return ['cache', `fetched ${ago(fetchedAt, now)}${fresh}`];
}

export function purposeField({ allowed, reason, usage }: ReportedDecision, label = 'use'): Field | undefined {
  if (usage === undefined || !allowed || reason === 'robots-txt') return undefined;
  return [label, purposeSentence(usage)];
}

export function delayField({ crawlDelayMs }: ReportedDecision): Field | undefined {
  return crawlDelayMs === undefined ? undefined : ['delay', delaySentence(crawlDelayMs)];
}

function retryField(decision: ReportedDecision, now: number): Field | undefined {
  if (decision.reason !== 'unreachable' || decision.retryAt === undefined) return undefined;
  // A private address stays private.
  if (decision.robots.error === 'ERR_ROBOTS_ADDRESS_REFUSED') return undefined;
  return ['retry', `next try ${ahead(decision.retryAt, now)}`];
}

const kinds = {
  allowed: { label: 'ALLOWED', style: 'good', code: exitCode.success },
  disallowed: { label: 'DISALLOWED', style: 'bad', code: exitCode.negative, counted: 'disallowed' },
  /** Allowed, but not wanted for the purpose. */
  unwanted: { label: 'NOT WANTED', style: 'bad', code: exitCode.negative, counted: 'not wanted' },
  undecided: { label: 'UNDECIDED', style: 'unsure', code: exitCode.undecided, counted: 'undecided' },
} as const satisfies Readonly<Record<string, Kind>>;

function kindOf(decision: ReportedDecision): Kind {
  if (isUndecided(decision)) return kinds.undecided;
  if (isUnwanted(decision)) return kinds.unwanted;
  return decision.allowed ? kinds.allowed : kinds.disallowed;
}

/** A line for each URL: the verdict, the URL and the reason. */
export const checkLayout: ListLayout<ReportedDecision> = {
  kinds: Object.values(kinds),
  kindOf,
  subjectOf: ({ url }) => url,
  reasonOf: (decision) => `${reasonText(decision)}${looksNote(decision.robots.suspect)}`,
  record: renderRecord,
  total: (decided, invalid) => count(decided + invalid, 'URL'),
};
