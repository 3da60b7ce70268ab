import { Conduct, type EarlyStart } from '../../../extras/evidence/conduct.ts';
import type { Bodies } from '../../../extras/evidence/recorded-run.ts';
import {
  flips,
  type ReplayDifference,
  type ReplayedLine,
  type ReplayReport,
} from '../../../extras/evidence/replay.ts';
import type {
  ConductReportLine,
  EarlyStartLine,
  FileVersionLine,
  ReplayLine,
  ReplayReportLine,
} from '../../answers/schema.ts';
import { omitUndefined, jsonLine, printable } from '../../../core/base/index.ts';
import { UsageError } from '../../answers/session.ts';
import { count, type Palette, duration, instant } from '../../answers/text/layout.ts';
import { DecisionList, decisionText, type ListOptions } from './decision-list.ts';

/** The output of a replay. Methods return the text to write. */
export interface View {
  /** Whether something is wrong: exit code 1. */
  readonly isNegative: boolean;
  /** How many decisions, requests or versions it has shown or judged, and what they are. */
  readonly judged?: number;
  readonly subject: string;
  /** Whether nothing else may be among its output: what differs is written to standard error. */
  readonly isRaw?: boolean;
  differs?(file: string, difference: ReplayDifference): string;
  took?(file: string, line: ReplayedLine): string;
  finish(report: ReplayReport, bodies: Bodies): string | Uint8Array;
}

/** How a view writes. */
interface Style {
  readonly isJson: boolean;
  readonly colours: Palette;
}

/** Decisions that differ, and entries that do not fit. */
export class DifferencesView implements View {
  readonly #style: Style;
  /** What is asked about instead of what was recorded, such as `under google`. */
  readonly #override: string | undefined;
  readonly subject = 'decisions';
  /** Whether decisions that only have another reason are listed, too. */
  readonly #listsAll: boolean;
  isNegative = false;
  judged = 0;

  constructor(style: Style, override: string | undefined, listsAll: boolean) {
    this.#style = style;
    this.#override = override;
    this.#listsAll = listsAll;
  }

  differs(file: string, difference: ReplayDifference): string {
    const { kind } = difference;
    if (kind === 'decision' && !this.#listsAll && !flips(difference.recorded, difference.replayed)) return '';
    this.isNegative = true;
    return differenceLine(file, difference, this.#style);
  }

  took(_file: string, { again }: ReplayedLine): string {
    if (again !== undefined) this.judged++;
    return '';
  }

  finish(report: ReplayReport): string {
    return this.#style.isJson
      ? jsonLine<ReplayReportLine>({ kind: 'report', ...report })
      : reportText(report, this.#override);
  }
}

/** A view of entries, which lists what does not fit: what it shows may be among the missing entries. */
class EntriesView {
  protected readonly style: Style;
  isNegative = false;

  constructor(style: Style) {
    this.style = style;
  }

  differs(file: string, difference: ReplayDifference): string {
    if (difference.kind === 'decision') return '';
    this.isNegative = true;
    return differenceLine(file, difference, this.style);
  }
}

/** What was decided, about one page or all, and what became of it. */
export class ListView extends EntriesView implements View {
  readonly #list: DecisionList;
  readonly subject = 'decisions';
  /** Among the rows of CSV there is no place for what differs. */
  readonly isRaw: boolean;

  constructor(style: Style, options: ListOptions) {
    super(style);
    this.isRaw = options.format === 'csv';
    this.#list = new DecisionList(options);
  }

  get judged(): number {
    return this.#list.rows;
  }

  override differs(file: string, difference: ReplayDifference): string {
    this.isNegative = true;
    return super.differs(file, difference);
  }

  took(file: string, line: ReplayedLine): string {
    return this.#list.add(file, line);
  }

  finish(): string {
    return this.#list.finish();
  }
}

/** The versions of the files. */
export class VersionsView extends EntriesView implements View {
  readonly subject = 'versions';
  readonly #versions: FileVersion[] = [];
  readonly #latest = new Map<string, FileVersion>();
  readonly #origin: string | undefined;

  constructor(style: Style, origin: string | undefined) {
    super(style);
    this.#origin = origin;
  }

  get judged(): number {
    return this.#versions.length;
  }

  took(_file: string, { entry }: ReplayedLine): string {
    if (!('origin' in entry) || (this.#origin ?? entry.origin) !== entry.origin) return '';
    const { at, origin } = entry;
    if (entry.type === 'stored' && entry.record.answer !== undefined) {
      this.#see(omitUndefined({ origin, from: at, until: at, sha256: entry.sha256 }));
    } else if (entry.type === 'robots' && 'outcome' in entry && entry.outcome !== 'unreachable') {
      const { sha256, status } = entry;
      this.#see(omitUndefined({ origin, from: at, until: at, sha256, status }));
    }
    return '';
  }

  /** An unreachable file is no other version: the last good one stays in force. */
  #see(version: FileVersion): void {
    const latest = this.#latest.get(version.origin);
    if (latest !== undefined && latest.sha256 === version.sha256) {
      latest.until = version.until;
      return;
    }
    this.#latest.set(version.origin, version);
    this.#versions.push(version);
  }

  finish(_report: ReplayReport, bodies: Bodies): string {
    return this.#versions
      .map((version) =>
        this.style.isJson
          ? jsonLine<FileVersionLine>({ kind: 'version', ...version })
          : versionText(version, bodies),
      )
      .join('');
  }
}

/** The bytes of one version. */
export class BodyView extends EntriesView implements View {
  readonly isRaw = true;
  readonly subject = 'versions';
  readonly #digest: string;

  /** @param digest SHA-256 in hex, or its beginning. */
  constructor(style: Style, digest: string) {
    super(style);
    this.#digest = digest;
  }

  /** @throws UsageError when there is no such version, or more than one. */
  finish(_report: ReplayReport, bodies: Bodies): Uint8Array {
    const found = [...bodies].filter(([sha256]) => sha256.startsWith(this.#digest));
    const [only] = found;
    if (only !== undefined && found.length === 1) return only[1];
    throw new UsageError(
      `Expected --body to name one version, got ${this.#digest}, which ${found.length === 0 ? 'no version has' : `begins the digests of ${found.length}`}; --versions lists them`,
    );
  }
}

/** Requests that were sent too early. */
export class ConductView extends EntriesView implements View {
  /** Rotated files of a run have one. */
  readonly #byRun = new Map<string, Conduct>();
  readonly #byFile = new Map<string, Conduct>();
  readonly subject = 'requests';
  #early = 0;

  get judged(): number {
    return this.#sum('requests');
  }

  took(file: string, line: ReplayedLine): string {
    return this.#conductOf(file, line.entry.run)
      .add(file, line)
      .map((early) => this.#line(early))
      .join('');
  }

  finish(): string {
    const [requests, unknown, early] = [this.judged, this.#sum('unknown'), this.#early];
    if (this.style.isJson) return jsonLine<ConductReportLine>({ kind: 'conduct', requests, early, unknown });
    const found = early === 0 ? 'none too early' : `${early.toLocaleString('en')} too early`;
    const note =
      unknown === 0 ? '' : `; of ${unknown.toLocaleString('en')} the site’s own delay is not known`;
    return `${count(requests, 'request')}: ${found}${note}\n`;
  }

  #sum(name: 'requests' | 'unknown'): number {
    let sum = 0;
    for (const conduct of new Set(this.#byRun.values())) sum += conduct[name];
    return sum;
  }

  #conductOf(file: string, run: string): Conduct {
    let conduct = this.#byRun.get(run);
    if (conduct === undefined) {
      conduct = this.#byFile.get(file) ?? new Conduct();
      this.#byRun.set(run, conduct);
    }
    this.#byFile.set(file, conduct);
    return conduct;
  }

  #line(early: EarlyStart): string {
    this.#early++;
    this.isNegative = true;
    return this.style.isJson
      ? jsonLine<EarlyStartLine>({ kind: 'early', ...early })
      : earlyText(early, this.style.colours);
  }
}

const FAULTS: Readonly<Record<Extract<ReplayDifference, { kind: 'entry' }>['fault'], string>> = {
  'missing-lines': 'lines are missing before it',
  'missing-run': 'it is of a run that the file does not have',
  'changed-lines':
    'the lines of its run were changed, added or removed: they do not have the digest that it states',
  'unknown-profile': 'it names a profile that is not described',
  'missing-body': 'the bytes of its digest are not in the file before it',
  'impossible-record': 'its profile makes no such record of that response',
};

/** A decision that differs, or an entry that does not fit. */
function differenceLine(file: string, difference: ReplayDifference, { isJson, colours }: Style): string {
  return isJson ? jsonLine<ReplayLine>({ file, ...difference }) : differenceText(file, difference, colours);
}

function differenceText(file: string, difference: ReplayDifference, colours: Palette): string {
  const where = `${printable(file)}, line ${difference.line}, ${instant(difference.at)}`;
  if (difference.kind === 'entry') {
    const origin = difference.origin === undefined ? '' : `${printable(difference.origin)}: `;
    return `${colours.bad('DOES NOT FIT')}  ${where}\n  ${origin}${FAULTS[difference.fault]}\n`;
  }
  const { recorded, replayed } = difference;
  const label = flips(recorded, replayed) ? 'DIFFERENT' : 'OTHER REASON';
  const again =
    replayed === undefined ? 'not: the record or the file is missing' : decisionText(replayed, colours);
  return `${colours.unsure(label)}  ${printable(difference.url)}  ${where}
  recorded  ${decisionText(recorded, colours)}
  replayed  ${again}\n`;
}

/** The last line of a replay. */
function reportText(report: ReplayReport, override: string | undefined): string {
  const { decisions, runs, flipped, changed, faults, unfinished, skipped } = report;
  const under = override === undefined ? '' : `, ${override}`;
  const of = `${count(decisions, 'decision')} of ${count(runs, 'run')}${under}`;
  const notes = [
    ...(faults === 0 ? [] : [`${entries(faults)} do not fit`.replace(/^(1 entry) do/, '$1 does')]),
    ...(unfinished === 0 ? [] : [`${count(unfinished, 'run')} without an end: still running, or cut off`]),
    ...(skipped === 0 ? [] : [`${entries(skipped)} of an unknown type skipped`]),
  ].map((note) => `; ${note}`);
  if (changed === 0) return `${of}: all as recorded${notes.join('')}\n`;
  const flips = `${flipped.toLocaleString('en')} ${override === undefined ? 'different' : 'would be different'}`;
  const others = `${(changed - flipped).toLocaleString('en')} for another reason`;
  return `${of}: ${flips}, ${others}${notes.join('')}\n`;
}

function entries(many: number): string {
  return many === 1 ? '1 entry' : `${many.toLocaleString('en')} entries`;
}

/** One version of an origin's robots.txt, or the time in which it had none. */
type FileVersion = Omit<FileVersionLine, 'schemaVersion' | 'kind' | 'until'> & { until: number };

/** A version of a file, in a line. */
function versionText({ origin, from, until, sha256, status }: FileVersion, bodies: Bodies): string {
  const size = sha256 === undefined ? undefined : bodies.get(sha256)?.length;
  const bytes = size === undefined ? '' : `  ${count(size, 'byte')}`;
  const what =
    sha256 === undefined ? `no file${status === undefined ? '' : ` (${status})`}` : `${sha256}${bytes}`;
  return `${instant(from)} to ${instant(until)}  ${printable(origin)}  ${what}\n`;
}

const EARLY: Readonly<Record<EarlyStart['reason'], string>> = {
  'retry-after': 'Retry-After',
  'back-off': 'its pause after a 429, a 503 or a refusal',
  'crawl-delay': 'Crawl-delay',
  'request-rate': 'Request-rate',
  'default-delay': 'the crawler’s `defaultDelayMs`',
  'min-delay': 'the crawler’s `minDelayMs`',
  latency: 'the crawler’s `latencyFactor`',
};

/** A request that was sent too early. */
function earlyText(early: EarlyStart, colours: Palette): string {
  const { file, line, url, startedAt, earliestAt, reason } = early;
  const by = duration(earliestAt - startedAt);
  return `${colours.bad('TOO EARLY')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}, ${by} before the end of ${EARLY[reason]}\n`;
}
