import { type InputError, isUndecided, type ReportedDecision } from '../../report/index.ts';
import {
  agentSentence,
  ago,
  ahead,
  count,
  delaySentence,
  duration,
  fileName,
  looksSentence,
  type Palette,
  printable,
  ruleText,
  truncatedSentence,
  whySentence,
} from '../../report/text/index.ts';
import { didYouMean, type Target } from '../../report/input/index.ts';

/** One line of the explanation: a label and its text. */
export type Row = readonly [label: string, text: string];

/** Renders a decision for people: the verdict, and below it the agent, the deciding rule and the robots.txt. */
export function renderDecision(decision: ReportedDecision, colours: Palette, now: number): string {
  const rows: readonly (Row | undefined)[] = [
    agentRow(decision),
    ruleRow(decision),
    whyRow(decision),
    robotsRow(decision),
    looksRow(decision),
    fileRow(decision),
    cacheRow(decision, now),
    delayRow(decision),
    retryRow(decision, now),
  ];
  const lines = rows.flatMap((row) =>
    row === undefined ? [] : [`  ${colours.faint(row[0].padEnd(7))} ${row[1]}`],
  );
  return `${[verdictLine(decision, colours), ...lines].join('\n')}\n`;
}

/** Renders the error of an invalid target for people. */
export function renderInputError(target: Target, error: InputError): string {
  const where = target.line === undefined ? '' : `line ${target.line}: `;
  const todo = target.tooLong === true ? '' : didYouMean(target.input);
  return `canfetch: ${where}${printable(error.message)}${todo}\n`;
}

export function verdictLine(decision: ReportedDecision, colours: Palette): string {
  const url = printable(decision.url);
  if (isUndecided(decision)) return `${colours.unsure('UNDECIDED')}   ${url}`;
  return decision.allowed ? `${colours.good('ALLOWED')}     ${url}` : `${colours.bad('DISALLOWED')}  ${url}`;
}

export function agentRow({ agent, group, reason }: ReportedDecision): Row {
  return ['agent', agentSentence(agent, group, reason === 'no-group')];
}

export function ruleRow({ rule, reason }: ReportedDecision): Row | undefined {
  if (rule !== undefined) return ['rule', ruleText(rule)];
  return reason === 'no-rule' ? ['rule', 'none of the group matches, so it is allowed'] : undefined;
}

function whyRow(decision: ReportedDecision): Row | undefined {
  const why = whySentence(decision);
  return why === undefined ? undefined : ['why', why];
}

function robotsRow({ robots, reason }: ReportedDecision): Row | undefined {
  if (!('finalUrl' in robots)) return ['robots', fileName(robots.file)];
  if (reason === 'robots-txt') return undefined;
  const way = robots.hops === 0 ? [] : [`${count(robots.hops, 'redirect')} from ${printable(robots.url)}`];
  const status = robots.status === undefined ? [] : [String(robots.status)];
  return ['robots', [printable(robots.finalUrl), ...status, ...way].join('  ')];
}

export function looksRow({ robots: { suspect } }: ReportedDecision): Row | undefined {
  return suspect === undefined ? undefined : ['looks', looksSentence(suspect)];
}

export function fileRow({ robots: { truncated } }: ReportedDecision): Row | undefined {
  return truncated === undefined ? undefined : ['file', truncatedSentence()];
}

function cacheRow({ robots }: ReportedDecision, now: number): Row | undefined {
  if (!('finalUrl' in robots) || robots.fetchedAt === undefined) return undefined;
  const { fetchedAt, staleAt } = robots;
  const fresh =
    staleAt === undefined ? '' : staleAt > now ? `, fresh for ${duration(staleAt - now)}` : ', stale';
  return ['cache', `fetched ${ago(fetchedAt, now)}${fresh}`];
}

export function delayRow({ crawlDelayMs }: ReportedDecision): Row | undefined {
  return crawlDelayMs === undefined ? undefined : ['delay', delaySentence(crawlDelayMs)];
}

function retryRow(decision: ReportedDecision, now: number): Row | undefined {
  if (decision.reason !== 'unreachable' || decision.retryAt === undefined) return undefined;
  return ['retry', `next try ${ahead(decision.retryAt, now)}`];
}
