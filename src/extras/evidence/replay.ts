import { createHash } from 'node:crypto';
import {
  aFunction,
  omitUndefined,
  isText,
  optionTable,
  quote,
  RobotsEvidenceError,
  expecting,
} from '../../core/base/index.ts';
import { type Decision, profileOrName } from '../../core/decision/index.ts';
import { type Profile, type ProfileName, profiles } from '../../core/lifecycle/index.ts';
import { agentTokens } from '../../core/rules/agent-tokens.ts';
import type { DecisionEntry, EvidenceEntry } from '../../core/client/evidence/entry.ts';
import { type EvidenceFault, Fold } from './fold.ts';
import { type ReadEntry, readEntry } from './read-entry.ts';

/** Options of {@link replay}. */
export interface ReplayOptions {
  /** Decides under this profile what was recorded under another. @default the recorded one */
  readonly profile?: ProfileName | Profile;
  /** Decides for this agent what was asked for another: a product token or a User-Agent string. */
  readonly agent?: string;
  /** Called for each decision that comes out otherwise, and for each entry that does not fit, in order. */
  readonly onDifference?: (difference: ReplayDifference) => void;
}

/** The parts of a decision that are compared. */
export type ReplayedDecision = Pick<
  DecisionEntry,
  'agent' | 'profile' | 'allowed' | 'state' | 'reason' | 'rule' | 'sha256'
>;

/** A decision that comes out otherwise than it was recorded, or an entry that cannot be what happened. */
export type ReplayDifference =
  | {
      readonly kind: 'decision';
      /** The line of the entry, counted from 1. */
      readonly line: number;
      readonly at: number;
      readonly url: string;
      readonly recorded: ReplayedDecision;
      /** Absent when the evidence lacks what the decision rests on. */
      readonly replayed?: ReplayedDecision;
    }
  | {
      readonly kind: 'entry';
      readonly line: number;
      readonly at: number;
      readonly origin?: string;
      readonly fault: EvidenceFault | 'missing-lines';
    };

/** What a replay found. */
export interface ReplayReport {
  readonly entries: number;
  readonly runs: number;
  readonly decisions: number;
  /** Decisions whose `allowed` comes out otherwise. */
  readonly flipped: number;
  /** Decisions whose reason, rule, state or digest comes out otherwise, those flipped included. */
  readonly changed: number;
  /** Entries that cannot be what happened, or that are missing. */
  readonly faults: number;
}

/**
 * Decides again what was decided, from the evidence that a client wrote: every recorded attempt goes through the rules
 * for answers over time, and every question is answered at its own time. Under the recorded profile and agent what was
 * decided must come out; a difference shows that lines were changed or lost, or that another version of canfetch
 * decides otherwise. Memory depends on the number of origins and files, not on that of decisions.
 *
 * @param lines The lines of one file, without their ends. Several files are replayed one by one: each has its own runs.
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) for a line that is no evidence, or bytes that do not fit their
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
  const running = new Replay(options);
  if (Symbol.iterator in lines) for (const line of lines) running.take(running.read(line));
  else for await (const line of lines) running.take(running.read(line));
  return running.report();
}

const checkOptions = optionTable({
  profile: profileOrName,
  agent: expecting('a product token or User-Agent string', isText),
  onDifference: aFunction(),
});

/** A line that was replayed. */
export interface ReplayedLine extends ReadEntry {
  /** Counted from 1. */
  readonly line: number;
  /** The number of the entry within its run. */
  readonly number: number;
}

/** The bytes of each digest. Many origins have the same file. Several replays may share them. */
export type Bodies = Map<string, Uint8Array>;

/** A replay that is given its lines one by one. */
export class Replay {
  readonly #options: ReplayOptions;
  readonly #agent: string | undefined;
  readonly #isOtherwise: boolean;
  readonly #fold: Fold;
  readonly #bodies: Bodies;
  #line = 0;
  /** The number of the entry within its run. */
  #number = 0;
  #runs = 0;
  #decisions = 0;
  #flipped = 0;
  #changed = 0;
  #faults = 0;

  /** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
  constructor(options: ReplayOptions, bodies: Bodies = new Map()) {
    checkOptions(options, '');
    this.#options = options;
    const { profile, agent } = options;
    this.#agent = agent === undefined ? undefined : agentTokens(agent)[0];
    this.#isOtherwise = profile !== undefined || agent !== undefined;
    const other = typeof profile === 'string' ? profiles[profile] : profile;
    this.#bodies = bodies;
    this.#fold = new Fold((sha256) => (sha256 === undefined ? undefined : bodies.get(sha256)), other);
  }

  /**
   * Reads the next line, which {@link take} is given before the one after it is read.
   *
   * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`)
   */
  read(text: string): ReadEntry {
    this.#line++;
    return readEntry(text, this.#line);
  }

  /**
   * Decides again what a line has.
   *
   * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`)
   */
  take(read: ReadEntry): ReplayedLine {
    this.#number++;
    const { entry } = read;
    if (entry.type === 'run') {
      this.#runs++;
      this.#number = 0;
    } else if (this.#runs === 0) {
      throw new RobotsEvidenceError(
        `Expected line ${this.#line} to begin a run, got an entry of type ${quote(entry.type)}`,
      );
    }
    if (read.number !== undefined && read.number !== this.#number) {
      this.#fault(entry.at, 'missing-lines');
      this.#number = read.number;
    }
    if (entry.type === 'decision') this.#decision(entry);
    else this.#takeIn(entry);
    return { entry, number: this.#number, line: this.#line };
  }

  report(): ReplayReport {
    return {
      entries: this.#line,
      runs: this.#runs,
      decisions: this.#decisions,
      flipped: this.#flipped,
      changed: this.#changed,
      faults: this.#faults,
    };
  }

  #takeIn(entry: Exclude<EvidenceEntry, DecisionEntry>): void {
    if ('body' in entry && entry.body !== undefined) this.#keep(entry.sha256, entry.body);
    const fault = this.#fold.add(entry, this.#number);
    if (fault !== undefined) this.#fault(entry.at, fault, 'origin' in entry ? entry.origin : undefined);
  }

  #decision(recorded: DecisionEntry): void {
    this.#decisions++;
    const replayed = this.#decide(recorded);
    if (replayed !== undefined && isSame(recorded, replayed, this.#isOtherwise)) return;
    this.#changed++;
    if (replayed?.allowed !== recorded.allowed) this.#flipped++;
    this.#options.onDifference?.({
      kind: 'decision',
      line: this.#line,
      at: recorded.at,
      url: recorded.url,
      recorded: compared(recorded, recorded.sha256),
      ...(replayed === undefined ? {} : { replayed: compared(replayed, replayed.robots.sha256) }),
    });
  }

  #decide(recorded: DecisionEntry): Decision | undefined {
    try {
      return this.#isOtherwise
        ? this.#fold.decideOtherwise(recorded, this.#agent)
        : this.#fold.decide(recorded);
    } catch (cause) {
      throw new RobotsEvidenceError(
        `Expected line ${this.#line} to have an absolute URL, got ${quote(recorded.url)}`,
        { cause },
      );
    }
  }

  #keep(sha256: string | undefined, body: Uint8Array): void {
    const actual = createHash('sha256').update(body).digest('hex');
    if (sha256 !== actual) {
      throw new RobotsEvidenceError(
        `Expected the body in line ${this.#line} to have the digest ${quote(sha256)}, got ${actual}: it was changed`,
      );
    }
    this.#bodies.set(actual, body);
  }

  #fault(at: number, fault: EvidenceFault | 'missing-lines', origin?: string): void {
    this.#faults++;
    const line = this.#line;
    this.#options.onDifference?.(omitUndefined({ kind: 'entry', line, at, fault, origin }));
  }
}

/** Whether a decision came out as recorded. Another profile has another name, which is no change. */
function isSame(recorded: DecisionEntry, replayed: Decision, isOtherwise: boolean): boolean {
  const { rule } = replayed;
  return (
    recorded.allowed === replayed.allowed &&
    recorded.reason === replayed.reason &&
    recorded.state === replayed.state &&
    recorded.rule?.line === rule?.line &&
    recorded.rule?.pattern === rule?.pattern &&
    recorded.rule?.directive === rule?.directive &&
    recorded.sha256 === replayed.robots.sha256 &&
    (isOtherwise || (recorded.agent === replayed.agent && recorded.profile === replayed.profile))
  );
}

function compared(
  { agent, profile, allowed, state, reason, rule }: DecisionEntry | Decision,
  sha256: string | undefined,
): ReplayedDecision {
  return omitUndefined({ agent, profile, allowed, state, reason, rule, sha256 });
}
