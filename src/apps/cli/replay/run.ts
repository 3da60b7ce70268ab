import { realpath } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { Bodies } from '../../../extras/evidence/recorded-run.ts';
import {
  flips,
  Replay,
  type ReplayDifference,
  type ReplayedLine,
  type ReplayReport,
  type RunPart,
} from '../../../extras/evidence/replay.ts';
import { ignore, omitUndefined, printable, quoted } from '../../../core/base/index.ts';
import { type Session, UsageError, write } from '../../answers/session.ts';
import { openList, readOrigin, readUrl } from '../../answers/input/load-robots.ts';
import { paletteFor } from '../../answers/text/layout.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { readAgents, readDate, readFormat, readProfile, readPurpose } from '../frame/settings.ts';
import { evidenceLines, type EvidenceSource, ofFile } from './evidence-source.ts';
import { listView, summaryView } from './lists.ts';
import {
  bodyView,
  conductView,
  differenceLine,
  differencesView,
  versionsView,
  type Style,
  type View,
} from './views.ts';

/** Lines between two writes. */
const LINES_AT_ONCE = 4_096;
/** Shorter beginnings of a digest may be ambiguous. */
const DIGEST = /^[0-9a-f]{8,64}$/;

/** Replays files of evidence, and prints a view of them. */
export async function replayFiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const { operands, values } = given;
  if (operands.length === 0) throw new UsageError('Expected a file of evidence, got nothing');
  const bodies: Bodies = new Map();
  const style: Style = { format: readFormat(given), colours: paletteFor(session) };
  const listing = new Listing(session, readView(given, style), style);
  const [agent] = readAgents(given);
  const options = omitUndefined({
    profile: values.has('profile') ? readProfile(given) : undefined,
    agent,
    origin: originIn(given),
    since: readDate(given, 'since'),
    until: readDate(given, 'until'),
  });
  const { signal } = session;
  // `logs/*.ndjson logs/today.ndjson` names one file twice.
  const files = new Map<string, string>();
  for (const name of operands) files.set(await realpath(name).catch(() => name), name);
  for (const name of files.values()) {
    const stream = unzipped(name, await openList(name, 'a file of evidence', session, signal));
    const onDifference = (difference: ReplayDifference): void => listing.differs(name, difference);
    const replay = new Replay({ ...options, onDifference }, bodies);
    listing.sources.push({ name, replay, lines: evidenceLines(name, stream, replay), next: undefined });
  }
  await replayAll(listing, signal);
  return listing.finish(bodies);
}

function unzipped(name: string, stream: Readable): Readable {
  return name.endsWith('.gz') ? pipeline(stream, createGunzip(), ignore) : stream;
}

/** @throws UsageError for more than one view, or for an invalid URL or digest. */
function readView(given: ParsedArguments, style: Style): View {
  const { values, switches } = given;
  const { format } = style;
  const views = ['list', 'url', 'body', 'versions', 'conduct', 'summary'].filter(
    (name) => values.has(name) || switches.has(name),
  );
  if (views.length > 1 && views.join() !== 'list,url') {
    throw new UsageError(
      `Expected one of ${views.map((name) => `--${name}`).join(', ')}, got ${views.length}`,
    );
  }
  const [view = 'differences'] = views;
  const purpose = readPurpose(given);
  const isList = view === 'list' || view === 'url';
  if (!isList && purpose !== undefined) throw new UsageError('Expected --list or --url beside --purpose');
  if (view === 'summary') return summaryView(format);
  if (!isList && format === 'csv')
    throw new UsageError('Expected --list, --url or --summary beside --format csv');
  if (isList) {
    const [page] = values.get('url') ?? [];
    return listView(style, { url: page && readUrl(page).href, purpose });
  }
  if (view === 'body') {
    const digest = values.get('body')?.[0]?.toLowerCase() ?? '';
    if (DIGEST.test(digest)) return bodyView(digest);
    throw new UsageError(
      `Expected --body to be a SHA-256 in hex, or 8 digits of it at least, got ${quoted(digest)}`,
    );
  }
  if (view === 'versions') return versionsView(style, originIn(given));
  if (view === 'conduct') return conductView(style);
  const [profile, agent] = [values.get('profile')?.[0], values.get('agent')?.[0]];
  const override = [
    ...(profile === undefined ? [] : [`under ${profile}`]),
    ...(agent === undefined ? [] : [`for ${printable(agent)}`]),
  ].join(' ');
  return differencesView(style, override);
}

function originIn({ values }: ParsedArguments): string | undefined {
  const [url] = values.get('origin') ?? [];
  return url && readOrigin(url);
}

/** Takes the lines of all files in the order of time. */
async function replayAll(listing: Listing, signal: AbortSignal): Promise<void> {
  const { sources } = listing;
  for (const source of sources) source.next = (await source.lines.next()).value;
  for (let lines = 1; ; lines++) {
    const source = earliest(sources);
    if (source?.next === undefined) return;
    const { name, replay, next } = source;
    const taken = ofFile(name, () => replay.take(next));
    if (taken !== undefined) listing.took(name, taken);
    source.next = (await source.lines.next()).value;
    if (lines % LINES_AT_ONCE > 0) continue;
    signal.throwIfAborted();
    await listing.flush();
  }
}

/** Of the files of one run at one time, that with the lower number. A line without a time comes first. */
function earliest(sources: readonly EvidenceSource[]): EvidenceSource | undefined {
  let found: EvidenceSource | undefined;
  let first = { at: Infinity, n: 0 };
  for (const source of sources) {
    if (source.next === undefined) continue;
    const { at = 0, n = 0 } = source.next.entry;
    if (at < first.at || (at === first.at && n < first.n)) [found, first] = [source, { at, n }];
  }
  return found;
}

/** Writes what a view returns, as lines are replayed. */
class Listing {
  readonly sources: EvidenceSource[] = [];
  readonly #session: Session;
  readonly #view: View;
  readonly #style: Style;
  #isNegative = false;
  #waiting = '';

  constructor(session: Session, view: View, style: Style) {
    this.#session = session;
    this.#view = view;
    this.#style = style;
  }

  took(name: string, line: ReplayedLine): void {
    this.#waiting += this.#view.took?.(name, line) ?? '';
  }

  differs(file: string, difference: ReplayDifference): void {
    const { differing, isRaw } = this.#view;
    if (difference.kind === 'decision') {
      if (differing === undefined) return;
      if (differing === 'flips' && !flips(difference.recorded, difference.replayed)) return;
    }
    this.#isNegative = true;
    if (difference.kind === 'decision' && differing === 'counted') return;
    const text = differenceLine(file, difference, this.#style);
    if (isRaw === true) this.#session.stderr.write(text);
    else this.#waiting += text;
  }

  /** Writes what waits. Resolves when the output has room for more. */
  async flush(): Promise<void> {
    const text = this.#waiting;
    this.#waiting = '';
    if (text !== '') await write(this.#session.stdout, text);
  }

  async finish(bodies: Bodies): Promise<ExitCode> {
    // A file that was started by a rotation may be empty still.
    const [first] = this.sources;
    const total = this.#total();
    if (first !== undefined && total.entries === 0)
      throw new UsageError(`Expected evidence, got an empty file: ${quoted(first.name)}`);
    const joined = this.#joinRuns(total);
    await this.flush();
    if (this.#view.judged() === 0) {
      throw new UsageError(
        `Expected ${this.#view.subject} to judge, got none; --summary shows what the log has`,
      );
    }
    const last = this.#view.finish(joined, bodies);
    if (last.length > 0) await write(this.#session.stdout, last);
    return this.#isNegative || this.#view.isNegative?.() === true ? exitCode.negative : exitCode.success;
  }

  /**
   * A run that was rotated over several files is one, and its last part tells whether it ended. Lines are missing where two
   * parts do not meet. Only now all parts are known: a later file may have been read first.
   */
  #joinRuns(total: ReplayReport): ReplayReport {
    const parts = this.sources.flatMap(({ name, replay }) => replay.runs.map((part) => ({ name, part })));
    parts.sort((one, other) => one.part.from - other.part.from);
    const runs = new Map<string, RunPart>();
    let { faults } = total;
    for (const { name, part } of parts) {
      const { run, line, at, from, next, hasEnded } = part;
      const before = runs.get(run);
      if (before !== undefined && before.next < from) {
        faults++;
        this.differs(name, { kind: 'entry', line, at, fault: 'missing-lines' });
      }
      // A file may be there twice, as a backup.
      if (before === undefined || before.next < next || hasEnded) runs.set(run, part);
    }
    const unfinished = [...runs.values()].filter(({ hasEnded }) => !hasEnded).length;
    return { ...total, runs: runs.size, unfinished, faults };
  }

  #total(): ReplayReport {
    const total = { ...new Replay({}).report() };
    for (const { replay } of this.sources) {
      for (const [name, value] of Object.entries(replay.report())) total[name as keyof ReplayReport] += value;
    }
    return total;
  }
}
