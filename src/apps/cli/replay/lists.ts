import { jsonLine, omitUndefined, printable } from '../../../core/base/index.ts';
import type { DecisionEntry } from '../../../core/client/evidence/entry.ts';
import { agentTokens } from '../../../core/decision/agent-tokens.ts';
import { type DecisionUsage, type Purpose, usageOf } from '../../../core/decision/index.ts';
import {
  refusalOf,
  RequestOutcomes,
  type RequestOutcome,
  type RequestRow,
  sentBy,
} from '../../../extras/evidence/request-outcomes.ts';
import { type VerdictKind, verdictKinds, verdictName } from '../../answers/verdict.ts';
import { grid, instant } from '../../answers/text/layout.ts';
import type { Format } from '../frame/command.ts';
import type { Style, View } from './views.ts';
import { outcomeText, preferenceText, whyText, whyUnchecked } from './words.ts';

/** A row, with what the site says about the purpose of its request. */
interface Row extends RequestRow {
  readonly usage: DecisionUsage | undefined;
}

/** Which decisions are listed. */
interface ListOptions {
  /** About this URL alone. */
  readonly url: string | undefined;
  /** What the recorded bytes say about this purpose is listed, instead of what was asked for. */
  readonly purpose: Purpose | undefined;
}

/** Decisions in the order of the log, each with what became of its request. */
export function listView({ format, colours }: Style, { url, purpose }: ListOptions): View {
  const outcomes = new RequestOutcomes();
  let hasHead = false;
  const textOf = (found: RequestRow): string => {
    const row = { ...found, usage: usageIn(found, purpose) };
    const data = dataOf(row);
    if (format === 'json') return jsonLine(data);
    const cells = cellsOf(data);
    if (format === 'csv') {
      const head = hasHead ? '' : csvLine(Object.keys(cells));
      hasHead = true;
      return head + csvLine(Object.values(cells));
    }
    const details = [cells.why, cells.preference, cells.outcome].filter((text) => text !== '').join('; ');
    const { label, tone } = kindOf(row);
    return `${cells.time}  ${colours[tone](label)}  ${cells.agent}  ${cells.url}  ${details}\n`;
  };
  return {
    subject: 'decisions',
    differing: 'counted',
    // Among the rows of CSV there is no place for what does not fit.
    isRaw: format === 'csv',
    judged: () => outcomes.rows,
    took(file, line) {
      const { entry } = line;
      if (!('url' in entry) || (url ?? entry.url) !== entry.url) return '';
      const { done } = outcomes.add(file, line);
      return done === undefined ? '' : textOf(done);
    },
    finish: () => Array.from(outcomes.finish(), textOf).join(''),
  };
}

function usageIn({ entry, again }: RequestRow, purpose: Purpose | undefined): DecisionUsage | undefined {
  if (purpose === undefined || again === undefined) return 'usage' in entry ? entry.usage : undefined;
  return usageOf(again.decision, again.file, purpose);
}

/** A decision, or a request without a check, and what became of it: texts are in words. */
function dataOf(row: Row) {
  const { entry, file, line, usage, again, outcome, cut } = row;
  const sent = outcome ?? (entry.type === 'request' || entry.type === 'deferred' ? entry : undefined);
  const decided: Partial<DecisionEntry> = entry.type === 'decision' ? entry : {};
  const { requested, agent, profile, allowed, reason, rule, sha256 } = decided;
  return omitUndefined({
    kind: 'listed',
    file,
    line,
    at: entry.at,
    url: entry.url,
    decision: kindOf(row).title.toLowerCase(),
    requested,
    agent,
    profile,
    allowed,
    reason,
    why: entry.type === 'decision' ? whyText(entry, again) : whyUnchecked(row),
    rule,
    sha256,
    usage,
    outcome: outcomeText(row),
    request: sent && factsOf(sent),
    cut: cut?.error,
  });
}

function factsOf(outcome: RequestOutcome): object {
  const { run: _run, n: _n, origin: _origin, url: _url, ...facts } = outcome;
  return facts;
}

function cellsOf(data: ReturnType<typeof dataOf>) {
  const { at, url, agent, profile, decision, allowed, why, rule, usage, sha256, outcome } = data;
  return {
    time: instant(at),
    url: printable(url),
    agent: printable(agent ?? ''),
    profile: printable(profile ?? ''),
    decision,
    why: printable(why),
    rule: rule === undefined ? '' : `${rule.directive}: ${printable(rule.pattern)}`,
    line: rule === undefined ? '' : String(rule.line),
    preference: preferenceText(usage, allowed),
    sha256: sha256 ?? '',
    outcome,
  };
}

/** As `canfetch check` calls it. */
function kindOf({ entry, usage }: Row): Pick<VerdictKind, 'title' | 'label' | 'tone'> {
  if (entry.type === 'decision') return verdictKinds[verdictName({ ...entry, usage })];
  const title = entry.type === 'ignored' ? 'Not checked' : 'No decision';
  return { title, label: title.toUpperCase(), tone: 'unsure' };
}

/** A line of CSV (RFC 4180), with its end. A cell that a spreadsheet would take for a formula begins with a quote. */
function csvLine(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const safe = /^[=+\-@]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(',')}\n`;
}

const NONE = { allowed: 0, refused: 0, notWanted: 0, deferred: 0, requested: 0, requestedAlthoughRefused: 0 };

const COUNTED = ['allowed', 'refused', 'not wanted', 'deferred', 'requested', 'although refused'];

/** How many were allowed, refused and requested, by agent and origin. */
export function summaryView(format: Format): View {
  const outcomes = new RequestOutcomes();
  const rows = new Map<string, { agent: string; origin: string; counts: typeof NONE }>();
  /** For requests without a decision. */
  const agents = new Map<string, string>();
  const countsOf = ({ entry: { origin, run, ...entry } }: RequestRow): typeof NONE => {
    const agent = entry.type === 'decision' ? entry.agent : (agents.get(run) ?? '');
    const key = `${agent} ${origin}`;
    const known = rows.get(key);
    if (known !== undefined) return known.counts;
    const counts = { ...NONE };
    rows.set(key, { agent, origin, counts });
    return counts;
  };
  const count = (row: RequestRow): void => {
    const { entry, outcome } = row;
    const counts = countsOf(row);
    const refusal = refusalOf(row);
    if (entry.type === 'decision' && entry.lookup !== true) {
      counts[refusal === undefined ? 'allowed' : refusal === 'disallowed' ? 'refused' : 'notWanted']++;
    }
    if (entry.type === 'deferred' || outcome?.type === 'deferred') counts.deferred++;
    if (sentBy(row) === undefined) return;
    counts.requested++;
    if (refusal !== undefined) counts.requestedAlthoughRefused++;
  };
  return {
    subject: 'decisions',
    differing: 'counted',
    isRaw: format === 'csv',
    judged: () => undefined,
    took(file, line) {
      const { entry } = line;
      if (entry.type === 'run') agents.set(entry.run, agentTokens(entry.agent)[0]);
      const { done } = outcomes.add(file, line);
      if (done !== undefined) count(done);
      return '';
    },
    finish() {
      for (const row of outcomes.finish()) count(row);
      const sorted = [...rows.values()].sort(
        (one, other) => compare(one.agent, other.agent) || compare(one.origin, other.origin),
      );
      if (format === 'json')
        return sorted.map(({ counts, ...by }) => jsonLine({ kind: 'summary', ...by, ...counts })).join('');
      const cells = sorted.map(({ agent, origin, counts }) => [
        printable(agent),
        printable(origin),
        ...Object.values(counts).map(String),
      ]);
      const table = [['agent', 'origin', ...COUNTED], ...cells];
      if (format === 'csv') return table.map(csvLine).join('');
      return grid(table)
        .map((line) => `${line.trim()}\n`)
        .join('');
    },
  };
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
