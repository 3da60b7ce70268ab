import type { AttemptEntry, DecisionEntry } from '../../../core/client/evidence/entry.ts';
import type { EarlyStart } from '../../../extras/evidence/conduct.ts';
import {
  type Bodies,
  flips,
  type ReplayDifference,
  type ReplayedDecision,
  type ReplayReport,
} from '../../../extras/evidence/replay.ts';
import type { FileVersionLine } from '../../answers/schema.ts';
import { count, duration, instant, type Palette } from '../../answers/text/layout.ts';
import { printable } from '../../../core/base/printable.ts';
import { reasons } from '../../answers/text/reasons.ts';
import { purposeSentence, ruleText } from '../../answers/text/sentences.ts';

const FAULTS: Readonly<Record<Extract<ReplayDifference, { kind: 'entry' }>['fault'], string>> = {
  'missing-lines': 'lines are missing before it',
  'missing-run': 'it is of a run that the file does not have',
  'changed-lines':
    'the lines of its run were changed, added or removed: they do not have the digest that it states',
  'unknown-profile': 'it names a profile that is not described',
  'missing-body': 'the bytes of its digest are not in the file before it',
  'unexpected-body': 'it has bytes, which such an outcome cannot have',
  'impossible-times': 'no jitter makes its times',
};

/** A decision that differs, or an entry that does not fit. */
export function differenceText(file: string, difference: ReplayDifference, colours: Palette): string {
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

/** What was decided for which agent, and why, in a line. */
export function decisionText(decision: ReplayedDecision | DecisionEntry, colours: Palette): string {
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

/** The last line of a replay. */
export function reportText(report: ReplayReport, isUnderOverride: boolean): string {
  const { decisions, runs, flipped, changed, faults, unfinished, skipped } = report;
  const of = `${count(decisions, 'decision')} of ${count(runs, 'run')}`;
  const notes = [
    ...(faults === 0 ? [] : [`${entries(faults)} do not fit`.replace(/^(1 entry) do/, '$1 does')]),
    ...(unfinished === 0 ? [] : [`${count(unfinished, 'run')} without an end: still running, or cut off`]),
    ...(skipped === 0 ? [] : [`${entries(skipped)} of an unknown type skipped`]),
  ].map((note) => `; ${note}`);
  if (changed === 0) return `${of}: all as recorded${notes.join('')}\n`;
  const flips = `${flipped.toLocaleString('en')} ${isUnderOverride ? 'would be different' : 'different'}`;
  const others = `${(changed - flipped).toLocaleString('en')} for another reason`;
  return `${of}: ${flips}, ${others}${notes.join('')}\n`;
}

function entries(many: number): string {
  return many === 1 ? '1 entry' : `${many.toLocaleString('en')} entries`;
}

/** One version of an origin's robots.txt, or the time in which it had none. */
export type FileVersion = Omit<FileVersionLine, 'schemaVersion' | 'kind' | 'until'> & { until: number };

/** A version of a file, in a line. */
export function versionText({ origin, from, until, sha256, status }: FileVersion, bodies: Bodies): string {
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
};

/** A request that was sent too early. */
export function earlyText(early: EarlyStart, colours: Palette): string {
  const { file, line, url, startedAt, earliestAt, reason } = early;
  const by = duration(earliestAt - startedAt);
  return `${colours.bad('TOO EARLY')}  ${printable(url)}  ${printable(file)}, line ${line}
  sent at ${new Date(startedAt).toISOString()}, ${by} before the end of ${EARLY[reason]}\n`;
}

/** The outcome of an attempt, with its requests. */
export function attemptText({ outcome, requests, error, staleAt, retryAt }: AttemptEntry): string {
  const sent = requests.map(({ url, status }) => `${printable(url)} → ${status ?? error ?? 'no response'}`);
  const until =
    staleAt !== undefined
      ? `, valid until ${instant(staleAt)}`
      : retryAt !== undefined
        ? `, next attempt from ${instant(retryAt)} on`
        : '';
  return `the response ${sent.join(', ')} (${outcome}${until})`;
}
