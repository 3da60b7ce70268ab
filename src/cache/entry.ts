import {
  type Answer,
  type Failure,
  type OriginRecord,
  type Profile,
  refreshAheadAt,
  type RobotsSource,
  sourceOf,
} from '../lifecycle/index.ts';
import { parseRobots, type RobotsFile } from '../rules/index.ts';

/** A record in memory, with what was made of it. A new record makes a new entry. */
export class CacheEntry {
  readonly record: OriginRecord;
  readonly profile: Profile;
  private parsed: RobotsFile | undefined;
  private fromMemory: RobotsSource | undefined;
  private answerHeld = false;
  private copyHeld = false;
  /** Fresh rules are simply in force from the first of these to the second. */
  private readonly quietFrom: number;
  private readonly quietUntil: number;

  constructor(record: OriginRecord, profile: Profile, previous?: CacheEntry) {
    this.record = record;
    this.profile = profile;
    const { answer } = record;
    const quiet = answer?.kind === 'rules' && record.copy !== undefined && record.failure === undefined;
    this.quietFrom = quiet ? answer.fetchedAt : 0;
    this.quietUntil = quiet ? refreshAheadAt(answer) : 0;
    // A 304, or a failure beside a good copy, leaves the compiled rules as they are.
    if (
      previous !== undefined &&
      previous.record.copy?.body === record.copy?.body &&
      previous.profile === profile
    ) {
      this.parsed = previous.parsed;
    }
  }

  /** The file of the good copy, parsed on first use. */
  get file(): RobotsFile | undefined {
    return this.parsed ?? this.parse();
  }

  /** Whether its rules hold at `now`, with nothing due: what nearly every question finds. There is a file then. */
  isQuietAt(now: number): boolean {
    return now < this.quietUntil && now >= this.quietFrom;
  }

  /**
   * What decisions rest on: the answer, or, once that has had its time, the failure that followed it. `copyHolds`: the
   * rules of the copy decide. One object serves all decisions until the one or the other changes with time.
   */
  source(source: RobotsSource['source'], answerHolds: boolean, copyHolds: boolean): RobotsSource {
    if (source !== 'memory') return sourceOf(this.record, source, answerHolds, copyHolds);
    const held = this.fromMemory;
    if (held !== undefined && this.answerHeld === answerHolds && this.copyHeld === copyHolds) return held;
    this.answerHeld = answerHolds;
    this.copyHeld = copyHolds;
    return (this.fromMemory = sourceOf(this.record, source, answerHolds, copyHolds));
  }

  private parse(): RobotsFile | undefined {
    const { copy } = this.record;
    if (copy === undefined) return undefined;
    return (this.parsed = parseRobots(copy.body, { dialect: this.profile.dialect }));
  }

  /** What the entry is reckoned to hold, rules compiled for an agent or two included. */
  get sizeBytes(): number {
    const { copy, answer, failure } = this.record;
    return 1024 + Math.ceil((copy?.body.length ?? 0) * 1.3) + fieldsLength(answer) + fieldsLength(failure);
  }
}

/** What servers say beside the file is bounded, but a hostile one says as much as it may. */
function fieldsLength(last: Answer | Failure | undefined): number {
  if (last === undefined) return 0;
  let length = 0;
  for (const field of Object.values(last.headers ?? {})) length += field.length;
  for (const { url, location } of last.redirects ?? []) length += url.length + location.length;
  return length;
}
