import { reasons } from '../../../core/decision/describe-decision.ts';
import { fileName, mapBatches, printable } from '../../../core/base/index.ts';
import { decideOffline } from '../../answers/decide.ts';
import type { Decide } from '../../answers/decide-online.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { isUndecided, isUnwanted, type ReportedDecision, targets } from '../../answers/input/targets.ts';
import { assertStdinOnce } from '../../answers/input/load-robots.ts';
import {
  agentSentence,
  delaySentence,
  looksNote,
  looksSentence,
  purposeSentence,
  ruleText,
} from '../../answers/text/sentences.ts';
import {
  ago,
  ahead,
  count,
  definitions,
  duration,
  type Field,
  type Palette,
} from '../../answers/text/layout.ts';
import { reasonText, whySentence } from '../../answers/text/reasons.ts';
import { renderRecord } from '../../answers/text/json.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { type Kind, type ListLayout, ListReport } from '../frame/list-report.ts';
import { agentOf, onlineSettings, readForm } from '../frame/settings.ts';

/** At most 512 URLs are in progress at once. The client limits its fetches; this limits the URLs that wait for them. */
const IN_ORDER = { concurrency: 512, ordered: true };
const STDIN = '-';

/** Decides each URL, in input order. */
export async function checkUrls(given: ParsedArguments, session: Session): Promise<ExitCode> {
  assertOperands(given);
  const form = readForm(given);
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  const { operands, switches } = given;
  const isLong = switches.has('long') || (operands.length === 1 && operands[0] !== STDIN);
  const report = new ListReport(session, isLong ? longLayout() : checkLayout, {
    form,
    given,
    // On a terminal, progress would mix with the JSON.
    showsProgress: operands.includes(STDIN) && form === 'text',
  });
  const decideAll = (decide: Decide): Promise<ExitCode> =>
    report.run(
      mapBatches(targets(operands, session.stdin), IN_ORDER, decide),
      // Results are in order, so every line before this one has its result.
      ({ line }) => line && `line ${line} of the list; \`tail -n +${line + 1}\` prints the rest of it`,
    );
  if (file === undefined) {
    const [{ openClient }, { decideOnline }] = await Promise.all([
      import('../frame/open-client.ts'),
      import('../../answers/decide-online.ts'),
    ]);
    await using opened = await openClient(settings, session);
    return await decideAll(decideOnline(opened.client, agentOf(settings), session.signal, settings.purpose));
  }
  if (settings.evidence !== undefined) {
    throw new UsageError(
      'Expected either --evidence or --robots, got both: evidence is of what was fetched; leave one of them out',
    );
  }
  return decideAll((await decideOffline(file, settings, session)).decide);
}

const longLayout = (): typeof checkLayout => ({
  ...checkLayout,
  long: (decision, colours, width) => renderDecision(decision, colours, { now: Date.now(), width }),
});

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

/** Renders a decision as text: the verdict, and below it the agent, the deciding rule and the robots.txt. */
function renderDecision(
  decision: ReportedDecision,
  colours: Palette,
  { now, width }: { readonly now: number; readonly width: number | undefined },
): string {
  const fields: readonly Field[] = [
    ...answerFields(decision),
    ['use', purposeText(decision)],
    ['why', whySentence(decision)],
    ['robots', robotsText(decision)],
    ...fileFields(decision),
    ['cache', cacheText(decision, now)],
    ['delay', delaySentence(decision.crawlDelayMs)],
    ['retry', retryText(decision, now)],
  ];
  return `${[verdictLine(decision, colours), ...definitions(fields, width, colours.faint)].join('\n')}\n`;
}

export function verdictLine(decision: ReportedDecision, colours: Palette): string {
  const { label, style } = kindOf(decision);
  return `${colours[style](label)}${' '.repeat(12 - label.length)}${printable(decision.url)}`;
}

/** The agent, and the rule that decides. */
export function answerFields({ agent, group, reason, rule }: ReportedDecision): readonly [Field, Field] {
  const noRule = reason === 'no-rule' ? `${reasons[reason].what}, so ${reasons[reason].so}` : undefined;
  return [
    ['agent', agentSentence(agent, group, reason === 'no-group')],
    ['rule', rule === undefined ? noRule : ruleText(rule)],
  ];
}

/** What is odd about the file. */
export function fileFields({ robots: { suspect, truncated } }: ReportedDecision): readonly Field[] {
  return [
    ['looks', looksSentence(suspect)],
    ['file', truncated && 'is longer than what is read; rules after that limit are ignored'],
  ];
}

function robotsText({ robots, reason }: ReportedDecision): string | undefined {
  if (!('finalUrl' in robots)) return fileName(robots.file);
  if (reason === 'robots-txt') return undefined;
  const way = robots.hops === 0 ? [] : [`${count(robots.hops, 'redirect')} from ${printable(robots.url)}`];
  const status = robots.status === undefined ? [] : [String(robots.status)];
  return [printable(robots.finalUrl), ...status, ...way].join('  ');
}

function cacheText({ robots }: ReportedDecision, now: number): string | undefined {
  if (!('finalUrl' in robots) || robots.fetchedAt === undefined) return undefined;
  const { fetchedAt, staleAt } = robots;
  const fresh =
    staleAt === undefined ? '' : staleAt > now ? `, fresh for ${duration(staleAt - now)}` : ', stale';
  return `fetched ${ago(fetchedAt, now)}${fresh}`;
}

export function purposeText({ allowed, reason, usage }: ReportedDecision): string | undefined {
  return usage && allowed && reason !== 'robots-txt' ? purposeSentence(usage) : undefined;
}

function retryText(decision: ReportedDecision, now: number): string | undefined {
  if (decision.reason !== 'unreachable' || decision.retryAt === undefined) return undefined;
  // A private address stays private.
  if (decision.robots.error === 'ERR_ROBOTS_ADDRESS_REFUSED') return undefined;
  return `next try ${ahead(decision.retryAt, now)}`;
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
const checkLayout: ListLayout<ReportedDecision> = {
  kinds: Object.values(kinds),
  kindOf,
  subjectOf: ({ url }) => url,
  reasonOf: (decision) => `${reasonText(decision)}${looksNote(decision.robots.suspect)}`,
  record: renderRecord,
  total: (decided, invalid) => count(decided + invalid, 'URL'),
};
