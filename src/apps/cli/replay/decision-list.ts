import { jsonLine, omitUndefined, printable } from '../../../core/base/index.ts';
import { type DecisionUsage, type Purpose, reasons, usageOf } from '../../../core/decision/index.ts';
import type {
  CutEntry,
  DecisionEntry,
  DeferredEntry,
  IgnoredEntry,
  RequestEntry,
} from '../../../core/client/evidence/entry.ts';
import type { Bodies, ReplayedAgain } from '../../../extras/evidence/recorded-run.ts';
import type { ReplayedDecision, ReplayedLine } from '../../../extras/evidence/replay.ts';
import type { ListedDecisionLine } from '../../answers/schema.ts';
import { count, instant, type Palette } from '../../answers/text/layout.ts';
import { purposeSentence, ruleText } from '../../answers/text/sentences.ts';

/** Decisions that wait in the list for what becomes of their requests. Beyond it they are listed without. */
const MAX_WAITING = 10_000;

/** A decision, or a request without a check, and what became of it; or a body that was cut later. */
interface Row {
  readonly entry: DecisionEntry | IgnoredEntry | CutEntry;
  readonly file: string;
  readonly line: number;
  readonly again: ReplayedAgain | undefined;
  readonly usage: DecisionUsage | undefined;
  outcome?: RequestEntry | DeferredEntry;
}

type ListFormat = 'text' | 'json' | 'csv' | 'page';

export interface ListOptions {
  /** `page`: in some lines for each decision, as one page has few. */
  readonly format: ListFormat;
  readonly colours: Palette;
  /** Lists decisions about this URL alone. */
  readonly url: string | undefined;
  /** What the recorded bytes say about this purpose is listed, instead of what was asked for. */
  readonly purpose: Purpose | undefined;
  readonly bodies: Bodies;
}

/** Lists decisions in the order of the log, each with what became of its request. */
export class DecisionList {
  readonly #options: ListOptions;
  /** In the order of the log. */
  readonly #waiting = new Set<Row>();
  /** Those whose request may follow, by run and URL. */
  readonly #open = new Map<string, Row[]>();
  /** A deferral is written right before its decision. */
  #deferred: DeferredEntry | undefined;
  /** Rows so far. */
  rows = 0;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  /** Takes the next line of the log. Returns the text of rows that are complete. */
  add(file: string, { entry, line, again, isSelected }: ReplayedLine): string {
    if (!('url' in entry) || (this.#options.url ?? entry.url) !== entry.url) return '';
    const key = `${entry.run} ${entry.url}`;
    if (entry.type === 'deferred') this.#deferred = entry;
    if (entry.type === 'request') {
      const rows = this.#open.get(key);
      const row = rows?.shift();
      if (rows?.length === 0) this.#open.delete(key);
      if (row !== undefined) row.outcome = entry;
      return row === undefined ? '' : this.#complete();
    }
    if (!isSelected || entry.type === 'deferred') return '';
    const row: Row = { entry, file, line, again, usage: this.#usageOf(entry, again) };
    const { run, url } = this.#deferred ?? {};
    if (this.#deferred !== undefined && run === entry.run && url === entry.url) row.outcome = this.#deferred;
    this.#deferred = undefined;
    const first = this.rows++ === 0 ? this.#head() : '';
    this.#waiting.add(row);
    if (mayFollow(row) && row.outcome === undefined)
      this.#open.set(key, [...(this.#open.get(key) ?? []), row]);
    return first + this.#complete();
  }

  /** The rows that still wait. */
  finish(): string {
    return this.#complete(0);
  }

  #usageOf(entry: Row['entry'], again: ReplayedAgain | undefined): DecisionUsage | undefined {
    const { purpose } = this.#options;
    if (purpose === undefined || again === undefined) return 'usage' in entry ? entry.usage : undefined;
    return usageOf(again.decision, again.file, purpose);
  }

  /** The text of the first rows, up to one whose request may follow. */
  #complete(maxWaiting: number = MAX_WAITING): string {
    let text = '';
    for (const row of this.#waiting) {
      if (mayFollow(row) && row.outcome === undefined && this.#waiting.size <= maxWaiting) break;
      this.#waiting.delete(row);
      if (row.outcome === undefined) this.#close(row);
      text += this.#text(row);
    }
    return text;
  }

  #close(row: Row): void {
    const { run, url } = row.entry;
    const rows = this.#open.get(`${run} ${url}`)?.filter((each) => each !== row) ?? [];
    if (rows.length === 0) this.#open.delete(`${run} ${url}`);
    else this.#open.set(`${run} ${url}`, rows);
  }

  #head(): string {
    if (this.#options.format === 'csv') return `${Object.keys(cellsOf(EMPTY)).join(',')}\n`;
    return '';
  }

  #text(row: Row): string {
    const { format, colours, bodies } = this.#options;
    switch (format) {
      case 'json':
        return jsonLine<ListedDecisionLine>(dataOf(row));
      case 'csv':
        return `${Object.values(cellsOf(dataOf(row)))
          .map(csvCell)
          .join(',')}\n`;
      case 'page':
        return pageText(row, colours, bodies);
      case 'text': {
        const { time, agent, url, why, preference, outcome } = cellsOf(dataOf(row));
        const details = [why, preference, outcome].filter((text) => text !== '').join('; ');
        return `${time}  ${labelOf(row, colours)}  ${agent}  ${url}  ${details}\n`;
      }
    }
  }
}

/** Whether a request may follow. A link that was looked up has a decision of its own when it is requested. */
function mayFollow({ entry, usage }: Row): boolean {
  if (entry.type !== 'decision') return entry.type === 'ignored';
  return entry.allowed && entry.lookup !== true && usage?.preference !== 'disallow';
}

type Data = Omit<ListedDecisionLine, 'schemaVersion'>;

const EMPTY: Data = { kind: 'listed', file: '', line: 0, at: 0, url: '', decision: '', why: '', outcome: '' };

function dataOf(row: Row): Data {
  const { entry, file, line, usage, outcome } = row;
  const base = { kind: 'listed', file, line, at: entry.at, url: entry.url } as const;
  const became = { outcome: outcomeText(row), ...omitUndefined({ request: outcome && factsOf(outcome) }) };
  if (entry.type !== 'decision')
    return { ...base, decision: wordOf(row), why: whyUnchecked(entry), ...became };
  const { agent, profile, allowed, reason, rule, sha256, requested } = entry;
  return {
    ...base,
    ...omitUndefined({ requested }),
    agent,
    profile,
    allowed,
    decision: wordOf(row),
    reason,
    why: whyText(entry),
    ...omitUndefined({ rule, usage, sha256 }),
    ...became,
  };
}

function whyUnchecked(entry: IgnoredEntry | CutEntry): string {
  return entry.type === 'ignored' ? `because: ${entry.because}` : entry.error;
}

function factsOf(outcome: RequestEntry | DeferredEntry): object {
  const { run: _run, n: _n, origin: _origin, url: _url, ...facts } = outcome;
  return facts;
}

function cellsOf({ at, url, agent, profile, decision, why, rule, usage, sha256, outcome }: Data) {
  return {
    time: instant(at),
    url: printable(url),
    agent: printable(agent ?? ''),
    profile: printable(profile ?? ''),
    decision,
    why: printable(why),
    rule: rule === undefined ? '' : `${rule.directive}: ${printable(rule.pattern)}`,
    line: rule === undefined ? '' : String(rule.line),
    preference: usage === undefined ? '' : purposeSentence(usage),
    sha256: sha256 ?? '',
    outcome,
  };
}

/** RFC 4180. A cell that a spreadsheet would take for a formula begins with a quote. */
function csvCell(text: string): string {
  const safe = /^[=+\-@]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function wordOf({ entry, usage }: Pick<Row, 'entry' | 'usage'>): string {
  if (entry.type === 'ignored') return 'not checked';
  if (entry.type === 'cut') return 'body cut';
  if (!entry.allowed) return 'disallowed';
  return usage?.preference === 'disallow' ? 'allowed, but not wanted' : 'allowed';
}

function labelOf(row: Pick<Row, 'entry' | 'usage'>, { good, bad, unsure }: Palette): string {
  const word = wordOf(row).toUpperCase();
  return word === 'ALLOWED' ? good(word) : word === 'DISALLOWED' ? bad(word) : unsure(word);
}

/** What became of a request, in words. */
function outcomeText({ entry, usage, outcome }: Row): string {
  if (outcome === undefined) {
    if (entry.type === 'ignored') return 'no request in the log';
    if (entry.type === 'cut') return `after response ${entry.status}`;
    if (entry.lookup === true) return entry.allowed ? 'a link, looked up' : 'a link, not queued';
    if (!entry.allowed) return 'not requested';
    return usage?.preference === 'disallow' ? 'not requested, for its purpose' : 'no request in the log';
  }
  if (outcome.type === 'deferred') {
    return `not requested: deferred to ${instant(outcome.retryAt)} (${printable(outcome.delayFrom)})`;
  }
  const { startedAt, status, error, refused } = outcome;
  const sent = `requested at ${new Date(startedAt).toISOString()}, ${status === undefined ? `failed: ${printable(error ?? 'no response')}` : `response ${status}`}`;
  return refused === undefined ? sent : `${sent}, then refused: its header fields forbid the purpose`;
}

/** A decision in some lines. */
function pageText(row: Row, colours: Palette, bodies: Bodies): string {
  const { entry, file, line, again, usage } = row;
  const lines = [`${instant(entry.at)}  ${labelOf(row, colours)}${headText(row)}`];
  if (usage !== undefined) lines.push(purposeSentence(usage));
  if ('requested' in entry) lines.push(`requested as ${printable(entry.requested)}, which redirected here`);
  if (again !== undefined) lines.push(`by ${sourceText(again)}`);
  if ('sha256' in entry) {
    const size = bodies.get(entry.sha256)?.length;
    const bytes = size === undefined ? 'bytes that are not in the evidence' : count(size, 'byte');
    lines.push(`robots.txt had ${bytes}, sha256 ${entry.sha256}`);
  }
  lines.push(outcomeText(row), `written in ${printable(file)}, line ${line}`);
  return `${lines.join('\n  ')}\n`;
}

function headText({ entry }: Row): string {
  return entry.type !== 'decision'
    ? `, ${printable(whyUnchecked(entry))}`
    : ` for ${printable(entry.agent)} under ${printable(entry.profile)}: ${whyText(entry)}`;
}

/** The response that a decision rests on. */
function sourceText({ decision: { robots } }: ReplayedAgain): string {
  const { finalUrl, status, error, fetchedAt, staleAt, source } = robots;
  if (source === 'override') return 'the option `overrides` of the crawler';
  const response = `${printable(finalUrl)} → ${error ?? status ?? 'never requested'}`;
  if (error !== undefined || fetchedAt === undefined || staleAt === undefined) return response;
  return `${response}, fetched ${instant(fetchedAt)}, valid until ${instant(staleAt)}`;
}

/** What was decided for which agent, and why, in a line. */
export function decisionText(decision: ReplayedDecision, colours: Palette): string {
  const { agent, profile, allowed, sha256, usage } = decision;
  const label = allowed ? colours.good('ALLOWED') : colours.bad('DISALLOWED');
  const digest = sha256 === undefined ? '' : `, sha256 ${sha256.slice(0, 12)}…`;
  const purpose = usage === undefined ? '' : `; ${purposeSentence(usage)}`;
  return `${label} for ${printable(agent)} under ${printable(profile)}: ${whyText(decision)}${purpose}${digest}`;
}

function whyText({ reason, state, rule }: ReplayedDecision | DecisionEntry): string {
  const why = rule === undefined ? reasons[reason].what : ruleText(rule);
  return state === 'last-good' ? `${why} (last good copy)` : why;
}
