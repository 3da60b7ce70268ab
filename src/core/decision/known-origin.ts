import { type OriginRecord, type Profile, refreshAheadAt } from '../lifecycle/index.ts';
import { parseRobots, type RobotsFile } from '../rules/index.ts';
import { type RobotsSource, sourceOf } from './robots-source.ts';

/** The record of an origin, with data derived from it once, for decisions. A new record makes a new object. */
export class KnownOrigin {
  readonly record: OriginRecord;
  readonly profile: Profile;
  #parsed: RobotsFile | undefined;
  #fromMemory: RobotsSource | undefined;
  #answerHeld = false;
  #copyHeld = false;
  /** Start and end of the time in which fresh rules are in force and no refresh is due. */
  readonly #freshFrom: number;
  readonly #freshUntil: number;

  /** @param previous The state before the record changed. Its parsed file is kept if the body is the same. */
  constructor(record: OriginRecord, profile: Profile, previous?: KnownOrigin) {
    this.record = record;
    this.profile = profile;
    const { answer } = record;
    const isFresh = answer?.kind === 'rules' && record.copy !== undefined && record.failure === undefined;
    this.#freshFrom = isFresh ? answer.fetchedAt : 0;
    this.#freshUntil = isFresh ? refreshAheadAt(answer) : 0;
    // A 304, or a failure beside a good copy, does not change the file, so its compiled rules are kept.
    if (
      previous !== undefined &&
      previous.record.copy?.body === record.copy?.body &&
      previous.profile === profile
    ) {
      this.#parsed = previous.#parsed;
    }
  }

  /** The file of the good copy, parsed on first use. */
  get file(): RobotsFile | undefined {
    return this.#parsed ?? this.#parse();
  }

  /** {@link file} if it was parsed before. */
  get parsed(): RobotsFile | undefined {
    return this.#parsed;
  }

  /** Whether fresh rules are in force at `now` and no refresh is due. This is the usual case, and implies a file. */
  isFreshAndNotDue(now: number): boolean {
    return now < this.#freshUntil && now >= this.#freshFrom;
  }

  /** Whether the latest response is in force at `now`, regardless of later failures. */
  isResponseInForce(now: number): boolean {
    const { answer } = this.record;
    return answer !== undefined && now >= answer.fetchedAt && now < answer.staleAt;
  }

  /**
   * The source of decisions: the response, or, after its lifetime, the failure that followed it. From memory, all
   * decisions share one object until it changes with time.
   *
   * @param isByCopy Whether the rules of the copy decide.
   */
  source(source: RobotsSource['source'], isResponseInForce: boolean, isByCopy: boolean): RobotsSource {
    if (source !== 'memory') return sourceOf(this.record, source, isResponseInForce, isByCopy);
    const held = this.#fromMemory;
    if (held !== undefined && this.#answerHeld === isResponseInForce && this.#copyHeld === isByCopy)
      return held;
    this.#answerHeld = isResponseInForce;
    this.#copyHeld = isByCopy;
    return (this.#fromMemory = sourceOf(this.record, source, isResponseInForce, isByCopy));
  }

  #parse(): RobotsFile | undefined {
    const { copy } = this.record;
    if (copy === undefined) return undefined;
    return (this.#parsed = parseRobots(copy.body, { dialect: this.profile.dialect }));
  }
}
