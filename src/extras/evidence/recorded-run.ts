import { omitUndefined } from '../../core/base/index.ts';
import {
  decide,
  decideByOverride,
  type Decision,
  type DecisionUsage,
  decideUnknown,
  KnownOrigin,
  type OverriddenOrigin,
  overriddenOrigin,
  usageOf,
} from '../../core/decision/index.ts';
import {
  type OriginRecord,
  type Profile,
  profiles,
  recordUnderProfile,
  timeInPause,
  validateRecord,
} from '../../core/lifecycle/index.ts';
import type { RobotsFile } from '../../core/rules/index.ts';
import { locate, LocatedUrl, ROBOTS_PATH } from '../../core/url/index.ts';
import type {
  AttemptEntry,
  DecisionEntry,
  OverrideEntry,
  RunEntry,
  SignalEntry,
  StoredEntry,
} from '../../core/client/evidence/entry.ts';

/** The bytes of each digest. Many origins have the same file. Several replays may share them. */
export type Bodies = Map<string, Uint8Array>;

/** What is wrong with an entry: canfetch did not write it so. */
export type EntryFault = 'unknown-profile' | 'missing-body' | 'impossible-record';

/** A decision that was made again, with what the site says about the recorded purpose. */
export interface ReplayedAgain {
  readonly decision: Decision;
  readonly usage?: DecisionUsage;
  /** The file that decided. */
  readonly file?: RobotsFile | undefined;
}

/** An entry after which something else is known of an origin. */
type KnownEntry = AttemptEntry | StoredEntry | SignalEntry;

/** What is known of an origin. */
interface RecordedOrigin {
  override?: OverriddenOrigin;
  /** The latest records, by the numbers of their entries. A decision may be published later than it was made. */
  readonly records: Map<number, OriginRecord>;
  /** The record of the latest decision, with its parsed file. */
  latest?: { readonly by: number | undefined; readonly known: KnownOrigin };
}

/** Records of an origin that are kept. A decision by an earlier one is checked by the file of its digest alone. */
const MAX_RECORDS = 16;

const located = new LocatedUrl();

const presets: ReadonlyMap<string, Profile> = new Map(Object.entries(profiles));

/** One run: the origins that its client knew, and the decisions from them. */
export class RecordedRun {
  readonly #run: RunEntry;
  readonly #bodies: Bodies;
  /** The profile that is asked about instead of the recorded ones. */
  readonly #other: Profile | undefined;
  readonly #origins = new Map<string, RecordedOrigin>();

  constructor(run: RunEntry, bodies: Bodies, other: Profile | undefined) {
    this.#run = run;
    this.#bodies = bodies;
    this.#other = other;
  }

  /** Whether the run's profile is a known one. */
  get isKnown(): boolean {
    return this.#profileNamed(this.#run.profile) !== undefined;
  }

  /** Takes what is known of an origin after an entry. Returns what is wrong with it. */
  learn({ origin, record: written, n }: KnownEntry): EntryFault | undefined {
    const profile = this.#profileOf(origin);
    if (profile === undefined) return 'unknown-profile';
    const { copy, ...others } = written;
    const body = copy?.sha256 === undefined ? undefined : this.#bodies.get(copy.sha256);
    const record = copy === undefined || body === undefined ? others : { ...others, copy: { ...copy, body } };
    const { records } = this.#at(origin);
    records.set(n, record);
    const [oldest] = records.keys();
    if (records.size > MAX_RECORDS && oldest !== undefined) records.delete(oldest);
    if (copy !== undefined && body === undefined) return 'missing-body';
    // Replies of FTP are no statuses of HTTP. A clock may have been set back, so no time is in the future.
    const isPossible = origin.startsWith('ftp:') || validateRecord(record, profile, Infinity) === undefined;
    return isPossible ? undefined : 'impossible-record';
  }

  /** Takes an override. Returns what is wrong with it. */
  override({ origin, override, because, sha256, profile }: OverrideEntry): EntryFault | undefined {
    const text = sha256 === undefined ? undefined : this.#bodies.get(sha256);
    if (override === 'text' && text === undefined) return 'missing-body';
    const { dialect } = this.#other ?? this.#profileOf(origin) ?? profiles.rfc9309;
    const given =
      override === 'text' ? { text: text ?? '', because } : { verdict: override, because: because ?? '' };
    this.#at(origin).override = overriddenOrigin(origin, { name: profile, dialect }, given);
    return undefined;
  }

  /**
   * Decides again: by the record that the decision names, or, if it is an old one, by the file of its digest. `undefined`
   * when the evidence lacks both.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  decide(recorded: DecisionEntry, agent: string = recorded.agent): ReplayedAgain | undefined {
    const { url, origin, by, usage, at } = recorded;
    if (locate(url, located).origin !== origin) return undefined;
    const override = this.#origins.get(origin)?.override;
    if (override !== undefined) {
      return withUsage(decideByOverride(override, [agent], located), override.file, usage);
    }
    const profile = this.#other ?? this.#profileOf(origin);
    if (profile === undefined) return undefined;
    if (by === undefined) {
      // About `/robots.txt` itself, or an `ftp:` origin without a transport.
      const decision = decideUnknown(profile, !url.startsWith('ftp:'), [agent], located, at);
      return decision && withUsage(decision, undefined, usage);
    }
    const known = this.#knownTo(recorded, by, profile);
    if (known === undefined) return undefined;
    // The other profile would have fetched at other times: a response holds until the next one in the log.
    const holds = recorded.paused === true || this.#other !== undefined;
    const readAt = holds ? timeInPause(known.record, profile, at) : at;
    const decision = decide(known, [agent], located, readAt, 'memory');
    const isByFile = decision.state === 'rules' || decision.state === 'last-good';
    return withUsage(decision, isByFile ? known.file : undefined, usage);
  }

  /** What the decision rests on. */
  #knownTo(recorded: DecisionEntry, by: number, profile: Profile): KnownOrigin | undefined {
    const recordedOrigin = this.#origins.get(recorded.origin);
    const { records, latest } = recordedOrigin ?? {};
    if (recordedOrigin === undefined || latest?.by === by) return latest?.known;
    const own = records?.get(by);
    const record = own && this.#other !== undefined ? recordUnderProfile(own, this.#other) : own;
    if (record !== undefined && record !== 'unread') {
      const known = new KnownOrigin(record, profile, latest?.known);
      recordedOrigin.latest = { by, known };
      return known;
    }
    const body =
      recorded.sha256 === undefined || own !== undefined ? undefined : this.#bodies.get(recorded.sha256);
    return body && new KnownOrigin(recordOfFile(recorded, body), profile, latest?.known);
  }

  #at(origin: string): RecordedOrigin {
    let known = this.#origins.get(origin);
    if (known === undefined) this.#origins.set(origin, (known = { records: new Map() }));
    return known;
  }

  #profileOf(origin: string): Profile | undefined {
    return this.#ownProfile(origin) ?? this.#profileNamed(this.#run.profile);
  }

  #profileNamed(name: string): Profile | undefined {
    return this.#ownProfile(name) ?? presets.get(name);
  }

  /** A profile of the run itself, by its name or by the origin that has it. */
  #ownProfile(name: string): Profile | undefined {
    const own = this.#run.profiles;
    return own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
  }
}

/** A record of the file alone, in force when the decision was made. */
function recordOfFile({ origin, at, sha256 }: DecisionEntry, body: Uint8Array): OriginRecord {
  const response = { status: 200, finalUrl: origin + ROBOTS_PATH, hops: 0, fetchedAt: at };
  return {
    origin,
    answer: { ...response, kind: 'rules', staleAt: at + 1 },
    copy: { ...response, body, truncated: false, ...omitUndefined({ sha256 }) },
  };
}

function withUsage(
  decision: Decision,
  file: RobotsFile | undefined,
  recorded: DecisionUsage | undefined,
): ReplayedAgain {
  if (recorded === undefined) return { decision, file };
  return { decision, file, usage: usageOf(decision, file, recorded.purpose) };
}
