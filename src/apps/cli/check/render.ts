import { isUndecided, isUnwanted, type ReportedDecision } from '../../answers/index.ts';
import {
  agentSentence,
  ago,
  ahead,
  count,
  definitions,
  delaySentence,
  duration,
  fileName,
  looksNote,
  looksSentence,
  type Palette,
  printable,
  purposeSentence,
  reasons,
  reasonText,
  renderRecord,
  ruleText,
  truncatedSentence,
  whySentence,
} from '../../answers/text/index.ts';
import { exitCode } from '../frame/command.ts';
import type { Kind, ListLayout } from '../frame/list-report.ts';

/** One line of the explanation: a label and its text. */
export type Field = readonly [label: string, text: string];

/** Renders a decision for people: the verdict, and below it the agent, the deciding rule and the robots.txt. */
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
