import { jsonLine, omitUndefined, printable } from '../../../core/base/index.ts';
import { type DecisionUsage, type Purpose, reasons, usageOf } from '../../../core/decision/index.ts';
import type { DecisionEntry } from '../../../core/client/evidence/entry.ts';
import type { Bodies, ReplayedAgain } from '../../../extras/evidence/recorded-run.ts';
import type { ReplayedDecision, ReplayedLine } from '../../../extras/evidence/replay.ts';
import {
  RequestOutcomes,
  type RequestOutcome,
  type RequestRow,
  wasSent,
} from '../../../extras/evidence/request-outcomes.ts';
import type { ListedDecisionLine } from '../../answers/schema/lines.ts';
import { count, instant, type Palette } from '../../answers/text/layout.ts';
import { purposeSentence, ruleText } from '../../answers/text/sentences.ts';

/** A row, with what the site says about the purpose of its request. */
interface Row extends RequestRow {
  readonly usage: DecisionUsage | undefined;
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
  readonly #outcomes = new RequestOutcomes();
  #hasHead = false;

  constructor(options: ListOptions) {
    this.#options = options;
  }

  /** Rows so far. */
  get rows(): number {
    return this.#outcomes.rows;
  }

  /** Takes the next line of the log. Returns the text of a row that is complete. */
  add(file: string, line: ReplayedLine): string {
    const { entry } = line;
    if (!('url' in entry) || (this.#options.url ?? entry.url) !== entry.url) return '';
    const { done } = this.#outcomes.add(file, line);
    return done === undefined ? '' : this.#text(done);
  }

  /** The rows that still wait. */
  finish(): string {
    return Array.from(this.#outcomes.finish(), (row) => this.#text(row)).join('');
  }

  #text(found: RequestRow): string {
    const { format, colours, bodies, purpose } = this.#options;
    const row = { ...found, usage: usageIn(found, purpose) };
    switch (format) {
      case 'json':
        return jsonLine<ListedDecisionLine>(dataOf(row));
      case 'csv': {
        const cells = cellsOf(dataOf(row));
        const head = this.#hasHead ? '' : csvLine(Object.keys(cells));
        this.#hasHead = true;
        return head + csvLine(Object.values(cells));
      }
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

function usageIn({ entry, again }: RequestRow, purpose: Purpose | undefined): DecisionUsage | undefined {
  if (purpose === undefined || again === undefined) return 'usage' in entry ? entry.usage : undefined;
  return usageOf(again.decision, again.file, purpose);
}

type Data = Omit<ListedDecisionLine, 'schemaVersion'>;

function dataOf(row: Row): Data {
  const { entry, file, line, usage, again, outcome, cut } = row;
  const base = { kind: 'listed', file, line, at: entry.at, url: entry.url } as const;
  const sent = outcome ?? (entry.type === 'request' || entry.type === 'deferred' ? entry : undefined);
  const became = {
    ...omitUndefined({ usage }),
    outcome: outcomeText(row),
    ...omitUndefined({ request: sent && factsOf(sent), cut: cut?.error }),
  };
  if (entry.type !== 'decision') return { ...base, decision: wordOf(row), why: whyUnchecked(row), ...became };
  const { agent, profile, allowed, reason, rule, sha256, requested } = entry;
  return {
    ...base,
    ...omitUndefined({ requested }),
    agent,
    profile,
    allowed,
    decision: wordOf(row),
    reason,
    why: whyText(entry, again),
    ...omitUndefined({ rule, sha256 }),
    ...became,
  };
}

/** Why a request without a decision was sent, and what the log says of its URL. */
function whyUnchecked({ entry, again }: RequestRow): string {
  if (entry.type !== 'ignored') return 'the log has no decision for it';
  const because = `because: ${entry.because}`;
  return again?.decision.allowed === false
    ? `${because}; disallowed: ${whyText(again.decision, again)}`
    : because;
}

/** Why the request of a row was refused, or sent without a check. */
export function whyOf(row: RequestRow): string {
  const { entry, again } = row;
  if (entry.type !== 'decision') return whyUnchecked(row);
  return entry.allowed && entry.usage !== undefined ? purposeSentence(entry.usage) : whyText(entry, again);
}

function factsOf(outcome: RequestOutcome): object {
  const { run: _run, n: _n, origin: _origin, url: _url, ...facts } = outcome;
  return facts;
}

/** draft-ietf-aipref-attach: "no preferences are implied for resources that are disallowed". */
function preferenceText(usage: DecisionUsage | undefined, allowed: boolean | undefined): string {
  if (usage === undefined) return '';
  return allowed === false && usage.source === undefined
    ? `${usage.purpose}: no preference is implied for a disallowed page`
    : purposeSentence(usage);
}

function cellsOf({ at, url, agent, profile, decision, allowed, why, rule, usage, sha256, outcome }: Data) {
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

function wordOf({ entry, usage }: Row): string {
  if (entry.type !== 'decision') return entry.type === 'ignored' ? 'not checked' : 'no decision';
  if (!entry.allowed) return 'disallowed';
  return usage?.preference === 'disallow' ? 'allowed, but not wanted' : 'allowed';
}

function labelOf(row: Row, { good, bad, unsure }: Palette): string {
  const word = wordOf(row).toUpperCase();
  return word === 'ALLOWED' ? good(word) : word === 'DISALLOWED' ? bad(word) : unsure(word);
}

/** What became of a request, in words. */
function outcomeText({ entry, outcome, cut }: RequestRow): string {
  if (outcome !== undefined) return entryText(outcome, cut?.error);
  switch (entry.type) {
    case 'request':
    case 'deferred':
      return entryText(entry, cut?.error);
    case 'cut':
      return `${entry.status}, body cut: ${printable(entry.error)}`;
    case 'ignored':
      return 'no request in the log';
    case 'decision':
      if (entry.lookup === true) return 'a link, looked up';
      return entry.refused === true ? 'not requested: refused' : 'no request in the log';
  }
}

function entryText(entry: RequestOutcome, cutBy: string | undefined): string {
  if (entry.type === 'deferred')
    return `deferred until ${instant(entry.retryAt)} (${printable(entry.delayFrom)})`;
  const { startedAt, status, error, refused } = entry;
  if (!wasSent(entry)) return `not requested: its address was refused (${error})`;
  const parts = [
    `requested at ${new Date(startedAt).toISOString()}`,
    status === undefined ? `failed: ${printable(error ?? 'no response')}` : String(status),
    ...(refused === undefined ? [] : [`refused by its header fields (${refused})`]),
    ...(cutBy === undefined ? [] : [`body cut: ${printable(cutBy)}`]),
  ];
  return parts.join(', ');
}

/** A decision in some lines. */
function pageText(row: Row, colours: Palette, bodies: Bodies): string {
  const { entry, file, line, again, usage } = row;
  const lines = [`${instant(entry.at)}  ${labelOf(row, colours)}${headText(row)}`];
  if (usage !== undefined) lines.push(preferenceText(usage, 'allowed' in entry ? entry.allowed : undefined));
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

function headText(row: RequestRow): string {
  const { entry, again } = row;
  return entry.type !== 'decision'
    ? `, ${printable(whyUnchecked(row))}`
    : ` for ${printable(entry.agent)} under ${printable(entry.profile)}: ${whyText(entry, again)}`;
}

/** The response that a decision rests on. */
function sourceText({ decision: { robots } }: ReplayedAgain): string {
  const { finalUrl, error, fetchedAt, staleAt, source } = robots;
  if (source === 'override') return 'the option `overrides` of the crawler';
  const response = `${printable(finalUrl)} → ${causeIn(robots) ?? 'never requested'}`;
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

/** Why, with the status or the error that decided. */
function whyText({ reason, state, rule }: ReplayedDecision | DecisionEntry, again?: ReplayedAgain): string {
  if (rule !== undefined) return withCopy(ruleText(rule), state);
  const cause = causeIn(again?.decision.robots ?? {});
  const isByResponse = state === 'allow-all' || state === 'disallow-all';
  const { what } = reasons[reason];
  return withCopy(isByResponse && cause !== undefined ? `${what} (${cause})` : what, state);
}

/** The status that decided, or the error where none did. */
function causeIn({
  status,
  error,
}: Partial<ReplayedAgain['decision']['robots']>): string | number | undefined {
  return error === undefined || error === 'ERR_ROBOTS_STATUS' ? status : error;
}

function withCopy(why: string, state: ReplayedDecision['state']): string {
  return state === 'last-good' ? `${why} (last good copy)` : why;
}

/** A line of CSV (RFC 4180), with its end. A cell that a spreadsheet would take for a formula begins with a quote. */
export function csvLine(cells: readonly string[]): string {
  const written = cells.map((cell) => {
    const safe = /^[=+\-@]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  });
  return `${written.join(',')}\n`;
}
