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
import { type Profile, profiles, recordUnderProfile, timeInPause } from '../../core/lifecycle/index.ts';
import { agentTokens } from '../../core/decision/agent-tokens.ts';
import type { RobotsFile } from '../../core/rules/index.ts';
import { locate, LocatedUrl } from '../../core/url/index.ts';
import type { DecisionEntry, IgnoredEntry, RunEntry } from '../../core/client/evidence/entry.ts';
import type { BasisEntry } from '../../core/client/evidence/recorder.ts';
import { fileOnly, isByFile, isReadBy, recordOf } from './recorded-outcome.ts';

/** The bytes of each digest. Many origins have the same file. Several replays may share them. */
export type Bodies = Map<string, Uint8Array>;

/** What is wrong with an entry: canfetch did not write it so. */
export type EntryFault = 'unknown-profile' | 'missing-body' | 'impossible-outcome';

/** A decision that was made again, with what the site says about the recorded purpose. */
export interface ReplayedAgain {
  readonly decision: Decision;
  readonly usage?: DecisionUsage;
  /** The file that decided. */
  readonly file?: RobotsFile | undefined;
}

/** What is known of an origin. */
interface RecordedOrigin {
  /** The latest entries, without their bytes, by their numbers. A decision may be published later than it was made. */
  readonly entries: Map<number, BasisEntry>;
  /** What the latest decision rests on, with its parsed file. */
  latest?: {
    readonly by: number;
    readonly siteReachable: boolean;
    readonly known: KnownOrigin | OverriddenOrigin;
  };
}

/** Entries of an origin that are kept. A decision by an earlier one is checked by the file of its digest alone. */
const MAX_ENTRIES = 16;

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

  /** Takes an entry that decisions rest on. Returns what is wrong with it. */
  learn(given: BasisEntry): EntryFault | undefined {
    const { body: _, ...entry } = given;
    const { origin, n, sha256 } = entry;
    let known = this.#origins.get(origin);
    if (known === undefined) this.#origins.set(origin, (known = { entries: new Map() }));
    const { entries } = known;
    entries.set(n, entry);
    const [oldest] = entries.keys();
    if (entries.size > MAX_ENTRIES && oldest !== undefined) entries.delete(oldest);
    const needsBody =
      'override' in entry ? entry.override === 'text' : isByFile(entry) || sha256 !== undefined;
    if (needsBody && this.#bodyOf(sha256) === undefined) return 'missing-body';
    if ('override' in entry) return undefined;
    const profile = this.#profileOf(origin);
    if (profile === undefined) return 'unknown-profile';
    return isReadBy(profile, entry) ? undefined : 'impossible-outcome';
  }

  /**
   * Decides again: by the entry that the decision names, or, if that is an old one, by the file of its digest. `undefined`
   * when the evidence lacks both.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  decide(recorded: DecisionEntry, agent: string = recorded.agent): ReplayedAgain | undefined {
    const { url, origin, by, usage, at } = recorded;
    if (locate(url, located).origin !== origin) return undefined;
    const profile = this.#other ?? this.#profileOf(origin);
    if (profile === undefined) return undefined;
    if (by === undefined) {
      // About `/robots.txt` itself, or an `ftp:` origin without a transport.
      const decision = decideUnknown(profile, !url.startsWith('ftp:'), [agent], located, at);
      return decision && withUsage(decision, undefined, usage);
    }
    const known = this.#knownTo(recorded, by, profile);
    if (known === undefined) return undefined;
    if (!(known instanceof KnownOrigin)) {
      return withUsage(decideByOverride(known, [agent], located), known.file, usage);
    }
    // The other profile would have fetched at other times: a response holds until the next one in the log.
    const holds = recorded.paused === true || this.#other !== undefined;
    const readAt = holds ? timeInPause(known.record, profile, at) : at;
    const decision = decide(known, [agent], located, readAt, 'memory');
    const isByRules = decision.state === 'rules' || decision.state === 'last-good';
    return withUsage(decision, isByRules ? known.file : undefined, usage);
  }

  /** What the latest entry says about a request that was not checked. `undefined` when the log has none. */
  wouldDecide({ url, origin, at, run, n }: IgnoredEntry): ReplayedAgain | undefined {
    const latest = [...(this.#origins.get(origin)?.entries.keys() ?? [])].at(-1);
    const profile = this.#profileOf(origin);
    // No decision rests on it, so it may be any text.
    if (latest === undefined || profile === undefined || !isFetchable(url)) return undefined;
    const [agent] = agentTokens(this.#run.agent);
    const question = {
      type: 'decision',
      at,
      run,
      n,
      origin,
      url,
      agent,
      profile: profile.name,
      by: latest,
    } as const;
    return this.decide({ ...question, allowed: true, state: 'unknown', reason: 'no-rule', paused: true });
  }

  /** What the decision rests on. */
  #knownTo(
    recorded: DecisionEntry,
    by: number,
    profile: Profile,
  ): KnownOrigin | OverriddenOrigin | undefined {
    const { origin, siteReachable = false } = recorded;
    const recordedOrigin = this.#origins.get(origin);
    const { entries, latest } = recordedOrigin ?? {};
    if (latest?.by === by && latest.siteReachable === siteReachable) return latest.known;
    const entry = entries?.get(by);
    const known = this.#knownBy(entry ?? fileOnly(recorded), siteReachable, profile, latest?.known);
    if (recordedOrigin !== undefined && entry !== undefined && known !== undefined)
      recordedOrigin.latest = { by, siteReachable, known };
    return known;
  }

  #knownBy(
    entry: BasisEntry,
    siteReachable: boolean,
    profile: Profile,
    before: KnownOrigin | OverriddenOrigin | undefined,
  ): KnownOrigin | OverriddenOrigin | undefined {
    const body = this.#bodyOf(entry.sha256);
    if ('override' in entry) {
      const { origin, override, because } = entry;
      // Only its dialect counts.
      const read = { name: entry.profile, dialect: profile.dialect };
      if (override !== 'text')
        return overriddenOrigin(origin, read, { verdict: override, because: because ?? '' });
      return body && overriddenOrigin(origin, read, { text: body, because });
    }
    if (isByFile(entry) && body === undefined) return undefined;
    const own = recordOf(entry, body, this.#profileOf(entry.origin) ?? profile, siteReachable);
    const record = this.#other === undefined ? own : recordUnderProfile(own, this.#other);
    if (record === undefined || record === 'unread') return undefined;
    return new KnownOrigin(record, profile, before instanceof KnownOrigin ? before : undefined);
  }

  #bodyOf(sha256: string | undefined): Uint8Array | undefined {
    return sha256 === undefined ? undefined : this.#bodies.get(sha256);
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

function isFetchable(url: string): boolean {
  try {
    return locate(url, located).href !== '';
  } catch {
    return false;
  }
}

function withUsage(
  decision: Decision,
  file: RobotsFile | undefined,
  recorded: DecisionUsage | undefined,
): ReplayedAgain {
  if (recorded === undefined) return { decision, file };
  return { decision, file, usage: usageOf(decision, file, recorded.purpose) };
}
