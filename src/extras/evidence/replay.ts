import { createHash } from 'node:crypto';
import {
  func,
  invalid,
  predicate,
  isText,
  omitUndefined,
  optionTable,
  quote,
  RobotsEvidenceError,
} from '../../core/base/index.ts';
import { type Decision, type DecisionUsage, profileOrName } from '../../core/decision/index.ts';
import { type Profile, type ProfileName, profiles } from '../../core/lifecycle/index.ts';
import { agentTokens } from '../../core/decision/agent-tokens.ts';
import { originOf } from '../../core/url/index.ts';
import type { DecisionEntry, EvidenceLine, RunEntry } from '../../core/client/evidence/entry.ts';
import { readEntry, type SkippedLine } from './entry-schema.ts';
import { type Bodies, type EntryFault, RecordedRun, type ReplayedAgain } from './recorded-run.ts';
import { LinesDigest } from './run-lines.ts';

/** A time: epoch ms, a `Date`, or a date and time of ISO 8601. */
export type Instant = number | Date | string;

/** Options of {@link replay}. */
export interface ReplayOptions {
  /** Decides under this profile what was recorded under another. @default the recorded one */
  readonly profile?: ProfileName | Profile;
  /** Decides for this agent what was asked for another: a product token or a User-Agent string. */
  readonly agent?: string;
  /** Decides again only what was decided about this origin, given as any URL of it. @default all origins */
  readonly origin?: string;
  /** Decides again only what was decided from this time on. @default the beginning */
  readonly since?: Instant;
  /** Decides again only what was decided before this time. @default the end */
  readonly until?: Instant;
  /** Called for each decision that differs, and for each entry that does not fit, in order. */
  readonly onDifference?: (difference: ReplayDifference) => void;
}

/** The parts of a decision that are compared. */
export type ReplayedDecision = Pick<
  DecisionEntry,
  'agent' | 'profile' | 'allowed' | 'state' | 'reason' | 'rule' | 'sha256' | 'usage'
>;

/**
 * What is wrong with an entry, or with the lines up to it.
 *
 * - `missing-lines`: a number is missing before the entry.
 * - `missing-run`: the entry is of a run that the file does not have.
 * - `changed-lines`: the lines of the run do not have the digest that its end states.
 * - `missing-body`: the bytes of the entry's digest are not in the file.
 * - `impossible-outcome`: the profile makes another outcome of that status.
 * - `unknown-profile`: the entry names a profile that is not described.
 */
export type EvidenceFault = EntryFault | 'missing-lines' | 'missing-run' | 'changed-lines';

/** A decision that differs from what was recorded, or an entry that does not fit. */
export type ReplayDifference =
  | {
      readonly kind: 'decision';
      /** The line of the entry, counted from 1. */
      readonly line: number;
      readonly at: number;
      readonly url: string;
      readonly recorded: ReplayedDecision;
      /** Absent when the evidence lacks the record, or the file, that decided. */
      readonly replayed?: ReplayedDecision;
    }
  | {
      readonly kind: 'entry';
      readonly line: number;
      readonly at: number;
      readonly origin?: string;
      readonly fault: EvidenceFault;
    };

/** What a replay found. */
export interface ReplayReport {
  readonly entries: number;
  readonly runs: number;
  /** Runs without an end: they still write, or have crashed. */
  readonly unfinished: number;
  /** Lines of types that this version does not know. */
  readonly skipped: number;
  /** Decisions that were made again. */
  readonly decisions: number;
  /** Decisions whose `allowed`, or whose preference for the purpose, differs. */
  readonly flipped: number;
  /** Decisions whose reason, rule, state, usage or digest differs, those flipped included. */
  readonly changed: number;
  /** Entries that do not fit. */
  readonly faults: number;
}

/**
 * Makes recorded decisions again: by the bytes that were in force, or by the recorded outcome, each at its own time. A
 * difference shows that lines were changed or lost, or that another version of canfetch decides differently. Memory grows
 * with origins and files, not with decisions.
 *
 * @param lines The lines of one file, without their ends. Replay several files one by one. Empty lines, and lines that a
 *   crash or a full disk has cut off, are skipped.
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) for a line that is no evidence, or bytes that do not have their
 *   digest; RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`).
 *
 * @example
 * ```ts
 * import { createReadStream } from 'node:fs';
 * import { createInterface } from 'node:readline';
 * import { replay } from 'canfetch/evidence';
 *
 * const lines = createInterface({ input: createReadStream('evidence.ndjson') });
 * const { decisions, changed } = await replay(lines);
 * ```
 */
export async function replay(
  lines: Iterable<string> | AsyncIterable<string>,
  options: ReplayOptions = {},
): Promise<ReplayReport> {
  if (
    typeof lines !== 'object' ||
    lines === null ||
    !(Symbol.iterator in lines || Symbol.asyncIterator in lines)
  )
    throw invalid('`lines`', 'the lines of evidence, as an iterable of texts', lines);
  const running = new Replay(options);
  for await (const text of lines) {
    const read = running.read(text);
    if (read !== undefined) running.take(read);
  }
  return running.report();
}

const instant = predicate('epoch milliseconds, a Date, or an ISO 8601 date', (value) =>
  Number.isFinite(epochMs(value)),
);

const checkOptions = optionTable({
  profile: profileOrName,
  agent: predicate('a product token or User-Agent string', isText),
  origin: predicate('a URL of the origin', (value) => isText(value) && URL.canParse(value)),
  since: instant,
  until: instant,
  onDifference: func(),
});

function epochMs(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value instanceof Date) return value.getTime();
  return isText(value) && ISO_DATE.test(value) ? Date.parse(value) : Number.NaN;
}

/** `Date.parse` reads many other texts, by rules of the engine. */
const ISO_DATE = /^\d{4}-\d\d(?:-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?)?$/;

/** A line that was read. */
export interface ReadLine {
  readonly entry: EvidenceLine | SkippedLine;
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
}

/** A line that was replayed. */
export interface ReplayedLine {
  readonly entry: EvidenceLine;
  readonly line: number;
  /** The decision, if the entry is one that was made again; of a request without a check what the log says of its URL. */
  readonly again?: ReplayedAgain | undefined;
  /** Whether the options select the entry. */
  readonly isSelected: boolean;
}

/** What the file has of a run. */
export interface RunPart {
  readonly run: string;
  /** The line that begins it, and its time. */
  readonly line: number;
  readonly at: number;
  /** The number of its first entry. */
  readonly from: number;
  /** The number that the next entry should have. */
  readonly next: number;
  readonly hasEnded: boolean;
}

interface ReplayedRun extends RunPart {
  readonly state: RecordedRun;
  next: number;
  lines: LinesDigest;
  hasEnded: boolean;
}

/** A replay that is given its lines one by one. */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #agent: string | undefined;
  readonly #other: Profile | undefined;
  readonly #isUnderOverride: boolean;
  readonly #origin: string | undefined;
  readonly #since: number;
  readonly #until: number;
  readonly #bodies: Bodies;
  readonly #runs = new Map<string, ReplayedRun>();
  #line = 0;
  readonly #counts = { entries: 0, runs: 0, skipped: 0, decisions: 0, flipped: 0, changed: 0, faults: 0 };

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(options: ReplayOptions, bodies: Bodies = new Map()) {
    checkOptions(options, '');
    this.#options = options;
    const { profile, agent, origin, since = -Infinity, until = Infinity } = options;
    this.#agent = agent === undefined ? undefined : agentTokens(agent)[0];
    this.#isUnderOverride = profile !== undefined || agent !== undefined;
    this.#other = typeof profile === 'string' ? profiles[profile] : profile;
    this.#origin = origin === undefined ? undefined : originOf(origin);
    this.#since = epochMs(since);
    this.#until = epochMs(until);
    this.#bodies = bodies;
  }

  /**
   * Reads the next line. `undefined` for one that was cut off.
   *
   * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`)
   */
  read(text: string): ReadLine | undefined {
    this.#line++;
    if (!isText(text))
      throw new RobotsEvidenceError(`Expected line ${this.#line} to be a text, got ${quote(text)}`);
    const entry = readEntry(text, this.#line);
    if (entry === undefined) return undefined;
    this.#counts.entries++;
    return { entry, text, line: this.#line };
  }

  /**
   * Replays a line that {@link read} gave. `undefined` for a line that is skipped.
   *
   * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`)
   */
  take({ entry, text, line }: ReadLine): ReplayedLine | undefined {
    if (entry.type === 'run') this.#begin(entry, line);
    const run = entry.run === undefined ? undefined : this.#runs.get(entry.run);
    if (run === undefined && this.#counts.runs === 0) {
      throw new RobotsEvidenceError(
        `Expected line ${line} to begin a run, got an entry of type ${quote(entry.type)}`,
      );
    }
    if (run !== undefined) this.#count(run, entry, text, line);
    if (entry.type === undefined) {
      this.#counts.skipped++;
      return undefined;
    }
    if (run === undefined) this.#fault({ line, at: entry.at, fault: 'missing-run' });
    const isSelected = this.#selects(entry);
    const again = run && this.#replay(run, entry, line, isSelected);
    return { entry, line, again, isSelected };
  }

  /** The runs in the file. Rotated files have a part of a run each. */
  get runs(): readonly RunPart[] {
    return [...this.#runs.values()];
  }

  report(): ReplayReport {
    return {
      unfinished: this.runs.filter(({ hasEnded }) => !hasEnded).length,
      ...this.#counts,
    };
  }

  #begin(entry: RunEntry, line: number): void {
    const { run, at, from = 0 } = entry;
    const known = this.#runs.get(run);
    // Files may have been joined: the next one continues the run.
    if (known !== undefined) {
      known.lines = new LinesDigest();
      known.hasEnded = false;
      return;
    }
    this.#counts.runs++;
    const state = new RecordedRun(entry, this.#bodies, this.#other);
    const part = { run, line, at, from, next: from, hasEnded: false };
    this.#runs.set(run, { ...part, state, lines: new LinesDigest() });
  }

  /** Checks the number of an entry, and at the end of a run the digest of its lines. */
  #count(run: ReplayedRun, entry: ReadLine['entry'], text: string, line: number): void {
    const { type, n = run.next, at = 0 } = entry;
    // What a decision rests on may have been written before, and in an earlier file.
    const number = type === 'run' ? (entry.from ?? n) : n;
    if (number > run.next) this.#fault({ line, at, fault: 'missing-lines' });
    const isNew = type !== 'end' && !(type === 'run' && entry.from !== undefined);
    run.next = Math.max(run.next, isNew ? number + 1 : number);
    if (type !== 'end') return run.lines.add(`${text}\n`);
    run.hasEnded = true;
    if (entry.entries !== run.lines.count || entry.sha256 !== run.lines.sha256())
      this.#fault({ line, at, fault: 'changed-lines' });
  }

  #selects(entry: EvidenceLine): boolean {
    if (this.#origin !== undefined && (!('origin' in entry) || entry.origin !== this.#origin)) return false;
    return entry.at >= this.#since && entry.at < this.#until;
  }

  #replay(
    run: ReplayedRun,
    entry: EvidenceLine,
    line: number,
    isSelected: boolean,
  ): ReplayedAgain | undefined {
    if (entry.type === 'decision') return isSelected ? this.#decision(run, entry, line) : undefined;
    if (entry.type === 'ignored') return run.state.wouldDecide(entry);
    if (entry.type === 'end') return undefined;
    if (entry.type === 'run') {
      if (!run.state.isKnown) this.#fault({ line, at: entry.at, fault: 'unknown-profile' });
      return undefined;
    }
    if ('body' in entry && entry.body !== undefined) this.#keep(entry.sha256, entry.body, line);
    if (this.#origin !== undefined && entry.origin !== this.#origin) return undefined;
    const fault = entry.type === 'robots' || entry.type === 'stored' ? run.state.learn(entry) : undefined;
    if (fault !== undefined) this.#fault({ line, at: entry.at, fault, origin: entry.origin });
    return undefined;
  }

  #decision({ state }: ReplayedRun, recorded: DecisionEntry, line: number): ReplayedAgain | undefined {
    this.#counts.decisions++;
    let again: ReplayedAgain | undefined;
    try {
      again = state.decide(recorded, this.#agent);
    } catch (cause) {
      throw new RobotsEvidenceError(
        `Expected line ${line} to have an absolute URL, got ${quote(recorded.url)}`,
        { cause },
      );
    }
    if (again !== undefined && isSame(recorded, again, this.#isUnderOverride)) return again;
    this.#counts.changed++;
    const replayed = again && compared(again.decision, again.decision.robots.sha256, again.usage);
    if (flips(recorded, replayed)) this.#counts.flipped++;
    this.#options.onDifference?.({
      kind: 'decision',
      line,
      at: recorded.at,
      url: recorded.url,
      recorded: compared(recorded, recorded.sha256, recorded.usage),
      ...omitUndefined({ replayed }),
    });
    return again;
  }

  #keep(sha256: string | undefined, body: Uint8Array, line: number): void {
    const actual = createHash('sha256').update(body).digest('hex');
    if (sha256 !== actual) {
      throw new RobotsEvidenceError(
        `Expected the body in line ${line} to have the digest ${quote(sha256)}, got ${actual}: it was changed`,
      );
    }
    if (!this.#bodies.has(actual)) this.#bodies.set(actual, body);
  }

  #fault(found: Omit<Extract<ReplayDifference, { kind: 'entry' }>, 'kind'>): void {
    this.#counts.faults++;
    this.#options.onDifference?.({ kind: 'entry', ...found });
  }
}

/** Whether a decision would have been the other way round. */
export function flips(recorded: ReplayedDecision, replayed: ReplayedDecision | undefined): boolean {
  return recorded.allowed !== replayed?.allowed || recorded.usage?.preference !== replayed.usage?.preference;
}

/** Whether a decision is as recorded. Another profile has another name, which is no change. */
function isSame(recorded: DecisionEntry, again: ReplayedAgain, isUnderOverride: boolean): boolean {
  const { decision, usage } = again;
  const factsOfRecorded = factsOf(recorded, recorded.sha256, recorded.usage);
  // The evidence of a decision without a purpose has no usage.
  const facts = factsOf(decision, decision.robots.sha256, recorded.usage && usage);
  return (
    facts.every((fact, at) => fact === factsOfRecorded[at]) &&
    (isUnderOverride || (recorded.agent === decision.agent && recorded.profile === decision.profile))
  );
}

function factsOf(
  { allowed, reason, state, rule }: DecisionEntry | Decision,
  sha256: string | undefined,
  usage: DecisionUsage | undefined,
): readonly unknown[] {
  const { directive, value, line } = usage?.source ?? {};
  const ofRule = [rule?.directive, rule?.pattern, rule?.line];
  return [allowed, reason, state, ...ofRule, sha256, usage?.preference, directive, value, line];
}

function compared(
  { agent, profile, allowed, state, reason, rule }: DecisionEntry | Decision,
  sha256: string | undefined,
  usage: DecisionUsage | undefined,
): ReplayedDecision {
  return omitUndefined({ agent, profile, allowed, state, reason, rule, sha256, usage });
}
