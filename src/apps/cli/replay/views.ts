import type { Bodies } from '../../../extras/evidence/recorded-run.ts';
import {
  flips,
  type ReplayDifference,
  type ReplayedLine,
  type ReplayReport,
} from '../../../extras/evidence/replay.ts';
import type { ReplayLine, ReplayReportLine } from '../../answers/schema/lines.ts';
import { jsonLine, printable } from '../../../core/base/index.ts';
import { UsageError } from '../../answers/session.ts';
import { count, type Palette, instant } from '../../answers/text/layout.ts';
import { DecisionList, decisionText, type ListOptions } from './decision-list.ts';
import { Summary } from './summary.ts';

/** What a replay shows. Its functions return the text to write. */
export interface View {
  /** What it shows or judges. */
  readonly subject: string;
  /** How many of them. `undefined`: it may find none. */
  judged(): number | undefined;
  /** Which decisions that differ are shown, or count as wrong unshown. Entries that do not fit are shown by every view. */
  readonly differing?: 'all' | 'flips' | 'counted';
  /** Whether nothing else may be among its output: what does not fit is written to standard error. */
  readonly isRaw?: boolean;
  took?(file: string, line: ReplayedLine): string;
  finish(report: ReplayReport, bodies: Bodies): string | Uint8Array;
  /** Whether it found something wrong: exit code 1. */
  isNegative?(): boolean;
}

/** How a view writes. */
export interface Style {
  readonly isJson: boolean;
  readonly colours: Palette;
}

/**
 * Decisions that differ.
 *
 * @param override What is asked about instead of what was recorded, such as `under google`: decisions that only have another
 *   reason are then counted, not listed.
 */
export function differencesView({ isJson }: Style, override: string): View {
  let judged = 0;
  return {
    subject: 'decisions',
    differing: override === '' ? 'all' : 'flips',
    judged: () => judged,
    took(_file, { again }) {
      if (again !== undefined) judged++;
      return '';
    },
    finish: (report) =>
      isJson ? jsonLine<ReplayReportLine>({ kind: 'report', ...report }) : reportText(report, override),
  };
}

/** What was decided, about one page or all, and what became of it. */
export function listView(options: ListOptions): View {
  const list = new DecisionList(options);
  return {
    subject: 'decisions',
    differing: 'counted',
    // Among the rows of CSV there is no place for what does not fit.
    isRaw: options.format === 'csv',
    judged: () => list.rows,
    took: (file, line) => list.add(file, line),
    finish: () => list.finish(),
  };
}

/** How many were allowed, refused and requested, by agent and origin. */
export function summaryView(format: 'text' | 'json' | 'csv'): View {
  const summary = new Summary();
  return {
    subject: 'decisions',
    differing: 'counted',
    isRaw: format === 'csv',
    judged: () => undefined,
    took(file, line) {
      summary.add(file, line);
      return '';
    },
    finish: () => summary.text(format),
  };
}

/**
 * The bytes of one version.
 *
 * @param digest SHA-256 in hex, or its beginning.
 */
export function bodyView(digest: string): View {
  return {
    subject: 'versions',
    judged: () => undefined,
    isRaw: true,
    /** @throws UsageError when there is no such version, or more than one. */
    finish(_report, bodies) {
      const found = [...bodies].filter(([sha256]) => sha256.startsWith(digest));
      const [only] = found;
      if (only !== undefined && found.length === 1) return only[1];
      throw new UsageError(
        `Expected --body to name one version, got ${digest}, which ${found.length === 0 ? 'no version has' : `begins the digests of ${found.length}`}; --versions lists them`,
      );
    },
  };
}

const FAULTS: Readonly<Record<Extract<ReplayDifference, { kind: 'entry' }>['fault'], string>> = {
  'missing-lines': 'lines are missing before it',
  'missing-run': 'it is of a run that the file does not have',
  'changed-lines':
    'the lines of its run were changed, added or removed: they do not have the digest that it states',
  'unknown-profile': 'it names a profile that is not described',
  'missing-body': 'the bytes of its digest are not in the file before it',
  'impossible-outcome': 'its profile makes another outcome of that status',
};

/** A decision that differs, or an entry that does not fit. */
export function differenceLine(
  file: string,
  difference: ReplayDifference,
  { isJson, colours }: Style,
): string {
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
function reportText(report: ReplayReport, override: string): string {
  const { decisions, runs, flipped, changed, faults, unfinished, skipped } = report;
  const under = override === '' ? '' : `, ${override}`;
  const of = `${count(decisions, 'decision')} of ${count(runs, 'run')}${under}`;
  const notes = [
    ...(faults === 0 ? [] : [`${entries(faults)} do not fit`.replace(/^(1 entry) do/, '$1 does')]),
    ...(unfinished === 0 ? [] : [`${count(unfinished, 'run')} without an end: still running, or cut off`]),
    ...(skipped === 0 ? [] : [`${entries(skipped)} of an unknown type skipped`]),
  ].map((note) => `; ${note}`);
  if (changed === 0) return `${of}: all as recorded${notes.join('')}\n`;
  const flips = `${flipped.toLocaleString('en')} ${override === '' ? 'different' : 'would be different'}`;
  const others = `${(changed - flipped).toLocaleString('en')} for another reason`;
  return `${of}: ${flips}, ${others}${notes.join('')}\n`;
}

function entries(many: number): string {
  return many === 1 ? '1 entry' : `${many.toLocaleString('en')} entries`;
}
