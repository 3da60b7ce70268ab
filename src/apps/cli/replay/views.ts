import { type AgainstRefusal, Conduct, type EarlyStart } from '../../../extras/evidence/conduct.ts';
import type { AttemptEntry } from '../../../core/client/evidence/entry.ts';
import type { Bodies } from '../../../extras/evidence/recorded-run.ts';
import {
  flips,
  type ReplayDifference,
  type ReplayedLine,
  type ReplayReport,
} from '../../../extras/evidence/replay.ts';
import { jsonLine, omitUndefined, printable, count } from '../../../core/base/index.ts';
import { delayName } from '../../../core/pacing/index.ts';
import { UsageError } from '../../answers/session.ts';
import { duration, instant, type Palette } from '../../answers/text/layout.ts';
import type { Format } from '../frame/command.ts';
import { decisionText, whyOf } from './words.ts';

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
  readonly format: Format;
  readonly colours: Palette;
}

/**
 * Decisions that differ.
 *
 * @param override What is asked about instead of what was recorded, such as `under google`: decisions that only have another
 *   reason are then counted, not listed.
 */
export function differencesView({ format }: Style, override: string): View {
  let judged = 0;
  return {
    subject: 'decisions',
    differing: override === '' ? 'all' : 'flips',
    judged: () => judged,
    took(_file, { entry, again }) {
      if (entry.type === 'decision' && again !== undefined) judged++;
      return '';
    },
    finish: (report) =>
      format === 'json' ? jsonLine({ kind: 'report', ...report }) : reportText(report, override),
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
  { format, colours }: Style,
): string {
  return format === 'json' ? jsonLine({ file, ...difference }) : differenceText(file, difference, colours);
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
    ...(faults === 0 ? [] : [`${count(faults, 'entry does', 'entries do')} not fit`]),
    ...(unfinished === 0 ? [] : [`${count(unfinished, 'run')} without an end: still running, or cut off`]),
    ...(skipped === 0 ? [] : [`${count(skipped, 'entry', 'entries')} of an unknown type skipped`]),
  ].map((note) => `; ${note}`);
  if (changed === 0) return `${of}: all as recorded${notes.join('')}\n`;
  const flips = `${flipped.toLocaleString('en')} ${override === '' ? 'different' : 'would be different'}`;
  const others = `${(changed - flipped).toLocaleString('en')} for another reason`;
  return `${of}: ${flips}, ${others}${notes.join('')}\n`;
}

/** One version of an origin's robots.txt, or the time in which it had none. */
interface FileVersion extends Pick<Partial<AttemptEntry>, 'sha256' | 'outcome' | 'status'> {
  readonly origin: string;
  /** When it was fetched. */
  readonly from: number;
  /** When it was last in force, by the log. */
  until: number;
}

/** A version of a file, in a line. */
function versionText({ origin, from, until, sha256, outcome, status }: FileVersion, bodies: Bodies): string {
  const size = sha256 === undefined ? undefined : bodies.get(sha256)?.length;
  const bytes = size === undefined ? '' : `  ${count(size, 'byte')}`;
  const what = sha256 === undefined ? `${outcome} (${status})` : `${sha256}${bytes}`;
  return `${instant(from)} to ${instant(until)}  ${printable(origin)}  ${what}\n`;
}

function isSame(one: FileVersion, other: FileVersion): boolean {
  return one.sha256 === other.sha256 && one.outcome === other.outcome && one.status === other.status;
}

/** The versions of the files, of one origin or all. */
export function versionsView({ format }: Style, wanted: string | undefined): View {
  const byOrigin = new Map<string, FileVersion[]>();
  let many = 0;
  /** An unreachable file is no other version: the last good one stays in force. */
  const see = (version: FileVersion): void => {
    const known = byOrigin.get(version.origin);
    const latest = known?.at(-1);
    if (latest !== undefined && isSame(latest, version)) {
      latest.until = Math.max(latest.until, version.until);
      return;
    }
    many++;
    if (known === undefined) byOrigin.set(version.origin, [version]);
    else known.push(version);
  };
  return {
    subject: 'versions',
    judged: () => many,
    took(_file, { entry }) {
      if (!('origin' in entry) || (wanted ?? entry.origin) !== entry.origin) return '';
      const { at, origin } = entry;
      if ('outcome' in entry && entry.outcome !== 'unreachable') {
        const { sha256, status, outcome } = entry;
        const ofFile = outcome === 'success' || outcome === 'not-modified';
        see({
          origin,
          from: entry.type === 'stored' ? entry.fetchedAt : at,
          until: at,
          ...(ofFile ? omitUndefined({ sha256 }) : omitUndefined({ outcome, status })),
        });
      } else if (entry.type === 'decision' && entry.by !== undefined) {
        const { sha256, reason } = entry;
        // It may rest on a version that was replaced while its request waited.
        const version = [...(byOrigin.get(origin) ?? [])]
          .reverse()
          .find(
            (each) =>
              each.from <= at && each.sha256 === sha256 && (sha256 !== undefined || each.outcome === reason),
          );
        if (version !== undefined) version.until = Math.max(version.until, at);
      }
      return '';
    },
    finish: (_report, bodies) =>
      [...byOrigin.values()]
        .flat()
        .sort((one, other) => one.from - other.from)
        .map((version) =>
          format === 'json' ? jsonLine({ kind: 'version', ...version }) : versionText(version, bodies),
        )
        .join(''),
  };
}

/** Requests that were sent too early, or although they were refused. */
export function conductView({ format, colours }: Style): View {
  const conduct = new Conduct();
  const isJson = format === 'json';
  const textOf = (found: EarlyStart | AgainstRefusal): string => {
    if (!('refusal' in found))
      return isJson ? jsonLine({ kind: 'early', ...found }) : earlyText(found, colours);
    const refused = dataOf(found);
    return isJson ? jsonLine(refused) : althoughRefusedText(refused, colours);
  };
  return {
    subject: 'requests',
    judged: () => conduct.requests,
    isNegative: () => conduct.early + conduct.refused > 0,
    took: (file, line) => conduct.add(file, line).map(textOf).join(''),
    finish() {
      const { requests, early, refused, unknown } = conduct;
      if (isJson) return jsonLine({ kind: 'conduct', requests, early, refused, unknown });
      const found = early === 0 ? 'none too early' : `${early.toLocaleString('en')} too early`;
      const against = refused === 0 ? '' : `, ${refused.toLocaleString('en')} sent although refused`;
      const note =
        unknown === 0 ? '' : `; of ${unknown.toLocaleString('en')} the site’s rules and delay are not known`;
      return `${count(requests, 'request')}: ${found}${against}${note}\n`;
    },
  };
}

/** A request that was sent too early. */
function earlyText(early: EarlyStart, colours: Palette): string {
  const { file, line, url, startedAt, earliestAt, reason } = early;
  const byMs = earliestAt - startedAt;
  const by = byMs < 1_000 ? `${Math.ceil(byMs)} ms` : duration(byMs);
  return `${colours.bad('TOO EARLY')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}, ${by} before the end of ${delayName(reason)}\n`;
}

function dataOf({ refusal, row, sent: { url, startedAt } }: AgainstRefusal) {
  const { file, line } = row.outcomeAt ?? row;
  const decided = { decisionFile: row.file, decisionLine: row.line };
  return { kind: 'although-refused', file, line, ...decided, url, startedAt, refusal, why: whyOf(row) };
}

function althoughRefusedText(
  { file, line, url, startedAt, why }: ReturnType<typeof dataOf>,
  colours: Palette,
): string {
  return `${colours.bad('ALTHOUGH REFUSED')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}: ${printable(why)}\n`;
}
