import type {
  CutEntry,
  DecisionEntry,
  DeferredEntry,
  IgnoredEntry,
  RequestEntry,
} from '../../core/client/evidence/entry.ts';
import type { ReplayedAgain } from './recorded-run.ts';
import type { ReplayedLine } from './replay.ts';

/** Rows that are kept until their outcome comes. Beyond it they are passed on without. */
const MAX_WAITING = 10_000;

/** What became of a request. */
export type RequestOutcome = RequestEntry | DeferredEntry;

/** A decision, or a request without a check, and what the log has of its request. */
export interface RequestRow {
  /** A request, a deferral or a cut body where the log has no decision for it. */
  readonly entry: DecisionEntry | IgnoredEntry | RequestOutcome | CutEntry;
  readonly file: string;
  readonly line: number;
  /** The decision, made again; of a request without a check what it would have been. */
  readonly again: ReplayedAgain | undefined;
  readonly outcome?: RequestOutcome;
  /** Where it is. */
  readonly outcomeAt?: { readonly file: string; readonly line: number };
  readonly cut?: CutEntry;
  /** Whether it is to be shown. */
  readonly isSelected: boolean;
}

/** What a line changes. */
interface AddedLine {
  /** The row that the line has begun, or that it belongs to. */
  readonly row?: RequestRow;
  /** A row that can wait no longer. */
  readonly done?: RequestRow | undefined;
}

type WaitingRow = { -readonly [Name in keyof RequestRow]: RequestRow[Name] };

/** The waiting rows of one URL in one run, in the order of the log. */
interface RowsOfUrl {
  /** Whose request or deferral may follow. */
  readonly open: WaitingRow[];
  /** Questions: a booking may follow. */
  readonly asked: WaitingRow[];
  /** Requests and deferrals whose decision may follow. */
  readonly early: WaitingRow[];
  /** Whose body may be cut. */
  readonly sent: WaitingRow[];
}

/**
 * Finds what became of each decision, by the entries of requests and deferrals alone, in whatever order they come. Those of
 * one URL in one run belong together.
 */
export class RequestOutcomes {
  readonly #waiting = new Set<WaitingRow>();
  readonly #byUrl = new Map<string, RowsOfUrl>();
  /** Rows that are shown, so far. */
  rows = 0;

  /** Takes the next line. */
  add(file: string, { entry, line, again, isSelected }: ReplayedLine): AddedLine {
    switch (entry.type) {
      case 'decision':
      case 'ignored':
        return this.#decided({ entry, file, line, again, isSelected });
      case 'request':
      case 'deferred': {
        const { open, asked, early, sent } = this.#rowsOf(entry);
        // A booking follows its question.
        const known = open.shift() ?? asked.pop();
        const row: WaitingRow = known ?? { entry, file, line, again, isSelected };
        if (entry.type === 'request') sent.push(row);
        if (known === undefined) {
          early.push(row);
          return this.#wait(row);
        }
        known.outcome = entry;
        known.outcomeAt = { file, line };
        return { row };
      }
      case 'cut': {
        const { sent } = this.#rowsOf(entry);
        const row = sent.find((each) => sentBy(each)?.status === entry.status);
        if (row === undefined) return this.#wait({ entry, file, line, again, isSelected });
        row.cut = entry;
        remove(sent, row);
        return { row };
      }
      default:
        return {};
    }
  }

  /** The rows that still wait. */
  *finish(): Iterable<RequestRow> {
    for (const row of this.#waiting) if (row.isSelected) yield row;
    this.#waiting.clear();
    this.#byUrl.clear();
  }

  #decided(row: WaitingRow & { readonly entry: DecisionEntry | IgnoredEntry }): AddedLine {
    const { entry } = row;
    const { open, asked, early } = this.#rowsOf(entry);
    if (entry.type === 'decision' && (entry.lookup === true || entry.refused === true))
      return this.#wait(row);
    const [undecided] = early;
    if (undecided === undefined || !isOutcome(undecided.entry)) {
      (entry.type === 'decision' && entry.question === true ? asked : open).push(row);
      return this.#wait(row);
    }
    this.#remove(undecided);
    if (undecided.isSelected) this.rows--;
    row.outcome = undecided.entry;
    row.outcomeAt = undecided;
    if (undecided.cut !== undefined) row.cut = undecided.cut;
    else if (undecided.entry.type === 'request') this.#rowsOf(entry).sent.push(row);
    return this.#wait(row);
  }

  #wait(row: WaitingRow): AddedLine {
    this.#waiting.add(row);
    if (row.isSelected) this.rows++;
    const [oldest] = this.#waiting;
    if (oldest === undefined || this.#waiting.size <= MAX_WAITING) return { row };
    this.#remove(oldest);
    return { row, done: oldest.isSelected ? oldest : undefined };
  }

  #rowsOf(entry: RequestRow['entry']): RowsOfUrl {
    const key = keyOf(entry);
    const known = this.#byUrl.get(key);
    if (known !== undefined) return known;
    const rows = { open: [], asked: [], early: [], sent: [] };
    this.#byUrl.set(key, rows);
    return rows;
  }

  #remove(row: WaitingRow): void {
    this.#waiting.delete(row);
    const { open, asked, early, sent } = this.#rowsOf(row.entry);
    const rows = [open, asked, early, sent];
    for (const each of rows) remove(each, row);
    if (rows.every(({ length }) => length === 0)) this.#byUrl.delete(keyOf(row.entry));
  }
}

/** Nearly always it is the first. */
function remove(rows: WaitingRow[], row: WaitingRow): void {
  const at = rows.indexOf(row);
  if (at >= 0) rows.splice(at, 1);
}

/** The request of a row, if one was sent. */
export function sentBy({ entry, outcome }: RequestRow): RequestEntry | undefined {
  const request = outcome ?? entry;
  return request.type === 'request' && wasSent(request) ? request : undefined;
}

/** Where the address policy refuses an address, no connection is opened. */
export function wasSent({ error }: RequestEntry): boolean {
  return error !== 'ERR_ROBOTS_ADDRESS_REFUSED';
}

/** Why a request should not have been sent: its URL is disallowed, or not wanted for its purpose. */
export function refusalOf({ entry, again }: RequestRow): 'disallowed' | 'not-wanted' | undefined {
  const decision = entry.type === 'decision' ? entry : again?.decision;
  if (decision?.allowed === false) return 'disallowed';
  return entry.type === 'decision' && entry.usage?.preference === 'disallow' ? 'not-wanted' : undefined;
}

function isOutcome(entry: RequestRow['entry']): entry is RequestOutcome {
  return entry.type === 'request' || entry.type === 'deferred';
}

function keyOf({ run, url }: { readonly run: string; readonly url: string }): string {
  return `${run} ${url}`;
}
