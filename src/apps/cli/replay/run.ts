import {
  type Bodies,
  Replay,
  type ReplayDifference,
  type ReplayReport,
} from '../../../extras/evidence/replay.ts';
import { omitUndefined, isRobotsError } from '../../../core/base/index.ts';
import { type Session, UsageError } from '../../answers/index.ts';
import type { ReplayLine, ReplayReportLine } from '../../answers/schema.ts';
import {
  count,
  jsonLine,
  Output,
  paletteFor,
  type Progress,
  progressOn,
  quoted,
} from '../../answers/text/index.ts';
import { locate } from '../../../core/url/index.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { interruptible } from '../frame/interruptible.ts';
import { openList, readsStdin } from '../../answers/input/index.ts';
import type { Format } from '../frame/options.ts';
import { colourChoice, readAgents, readFormat, readProfile } from '../frame/settings.ts';
import { EvidenceSource } from './evidence-source.ts';
import { renderDifference, renderReport, PageStory } from './render.ts';

/** Lines between two looks at the progress. */
const LINES_AT_ONCE = 4_096;

/** Replays files of evidence, and prints what comes out otherwise, or the story of a page. */
export async function replayFiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const { operands, values } = given;
  if (operands.length === 0) throw new UsageError('Expected a file of evidence, got nothing');
  const [agent] = readAgents(given);
  const what = {
    ...(values.has('profile') ? { profile: readProfile(given) } : {}),
    ...omitUndefined({ agent }),
  };
  const story = readStory(values.get('url')?.[0]);
  return interruptible(session, { readsStdin: readsStdin(operands) }, async (signal) => {
    const isOtherwise = Object.keys(what).length > 0;
    const listing = new Listing(session, given, { isOtherwise, story });
    const bodies: Bodies = new Map();
    const sources: EvidenceSource[] = [];
    for (const name of operands) {
      const stream = await openList(name, 'a file of evidence', session, signal);
      const onDifference = (difference: ReplayDifference): void => listing.differs(name, difference);
      sources.push(new EvidenceSource(name, stream, new Replay({ ...what, onDifference }, bodies)));
    }
    listing.sources = sources;
    try {
      await replayAll(sources, listing, signal);
      return await listing.finish(bodies);
    } finally {
      listing.leave();
    }
  });
}

/** @throws UsageError for what is no URL. */
function readStory(url: string | undefined): PageStory | undefined {
  if (url === undefined) return undefined;
  try {
    return new PageStory(locate(url));
  } catch (cause) {
    if (!isRobotsError(cause)) throw cause;
    throw new UsageError(`${cause.message}; --url takes the URL of a page`, { cause });
  }
}

/** Takes the lines of all files in the order of time. */
async function replayAll(
  sources: readonly EvidenceSource[],
  listing: Listing,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    for (let lines = 0; lines < LINES_AT_ONCE; lines++) {
      for (const source of sources) if (!source.isReady) await source.fill();
      const next = earliest(sources);
      const taken = next?.take();
      if (next === undefined || taken === undefined) return;
      listing.took(next, taken);
    }
    signal.throwIfAborted();
    await listing.flush();
  }
}

function earliest(sources: readonly EvidenceSource[]): EvidenceSource | undefined {
  if (sources.length === 1) return sources[0];
  let found: EvidenceSource | undefined;
  let foundAt = Number.POSITIVE_INFINITY;
  for (const source of sources) {
    const at = source.nextAt;
    if (at !== undefined && at < foundAt) [found, foundAt] = [source, at];
  }
  return found;
}

/** Writes the differences as they are found, and counts. */
class Listing {
  sources: readonly EvidenceSource[] = [];
  readonly #session: Session;
  readonly #output: Output;
  readonly #format: Format;
  readonly #colours: ReturnType<typeof paletteFor>;
  readonly #progress: Progress;
  readonly #isOtherwise: boolean;
  /** Whether decisions are listed that come to the same by another reason. */
  readonly #listsAll: boolean;
  readonly #story: PageStory | undefined;
  #waiting = '';
  #listed = 0;

  constructor(
    session: Session,
    given: ParsedArguments,
    { isOtherwise, story }: { readonly isOtherwise: boolean; readonly story: PageStory | undefined },
  ) {
    this.#session = session;
    this.#output = new Output(session.stdout);
    this.#format = readFormat(given);
    this.#colours = paletteFor(session, colourChoice(given));
    this.#progress = progressOn(session.stderr, () => this.#share());
    this.#isOtherwise = isOtherwise;
    this.#listsAll = !isOtherwise || given.switches.has('all');
    this.#story = story;
  }

  took({ name }: EvidenceSource, taken: Parameters<PageStory['add']>[1]): void {
    this.#story?.add(name, taken);
  }

  differs(file: string, difference: ReplayDifference): void {
    const { kind } = difference;
    if (kind === 'decision') {
      const flips = difference.recorded.allowed !== difference.replayed?.allowed;
      if (!flips && !this.#listsAll) return;
    }
    this.#listed++;
    if (this.#story !== undefined) return;
    this.#waiting +=
      this.#format === 'json'
        ? jsonLine<ReplayLine>({ file, ...difference })
        : renderDifference(file, difference, this.#colours);
  }

  /** Writes what waits. Resolves when the output has room for more. */
  async flush(): Promise<void> {
    if (this.#waiting !== '') {
      if (this.#session.stdout.isTTY === true) this.#progress.clear();
      const text = this.#waiting;
      this.#waiting = '';
      await this.#output.write(text);
    }
    this.#progress.show(this.#total().decisions, () => [count(this.#total().decisions, 'decision')]);
  }

  async finish(bodies: Bodies): Promise<ExitCode> {
    const empty = this.sources.find(({ replay }) => replay.report().entries === 0);
    if (empty !== undefined)
      throw new UsageError(`Expected evidence, got an empty file: ${quoted(empty.name)}`);
    const report = this.#total();
    if (this.#story !== undefined) {
      this.#waiting += this.#format === 'json' ? this.#story.json() : this.#story.text(bodies, this.#colours);
    } else if (this.#format === 'json') {
      this.#waiting += jsonLine<ReplayReportLine>({ kind: 'report', ...report });
    } else {
      this.#waiting += renderReport(report, this.#isOtherwise);
    }
    await this.flush();
    await this.#output.release();
    return this.#listed > 0 ? exitCode.negative : exitCode.success;
  }

  leave(): void {
    this.#progress.clear();
  }

  #total(): ReplayReport {
    const total = { entries: 0, runs: 0, decisions: 0, flipped: 0, changed: 0, faults: 0 };
    for (const { replay } of this.sources) {
      const report = replay.report();
      for (const name of COUNTED) total[name] += report[name];
    }
    return total;
  }

  #share(): number | undefined {
    const shares = this.sources.map(({ share }) => share ?? Number.NaN);
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    return Number.isNaN(mean) ? undefined : mean;
  }
}

const COUNTED = ['entries', 'runs', 'decisions', 'flipped', 'changed', 'faults'] as const;
