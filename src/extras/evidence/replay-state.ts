import {
  type Decision,
  decide,
  decideByOverride,
  type DecisionUsage,
  decideUnknown,
  usageOf,
} from '../../core/decision/index.ts';
import {
  classifyStatus,
  reinterpretLatest,
  type Profile,
  profiles,
  stateOf,
  timeInPause,
} from '../../core/lifecycle/index.ts';
import type { RobotsFile } from '../../core/rules/index.ts';
import { locate, LocatedUrl } from '../../core/url/index.ts';
import type {
  AttemptEntry,
  DecisionEntry,
  EvidenceEntry,
  OverrideEntry,
  RunEntry,
  StoredEntry,
} from '../../core/client/evidence/entry.ts';
import { type BodyOf, outcomeOf, RecordedOrigin } from './recorded-origin.ts';

/** What is wrong with an entry: canfetch did not write it so. */
export type EntryFault = 'unknown-profile' | 'missing-body' | 'unexpected-body' | 'impossible-times';

/** A decision that was made again, with what the site says about the recorded purpose. */
export interface ReplayedAgain {
  readonly decision: Decision;
  readonly usage?: DecisionUsage;
  /** The file that decided. */
  readonly file?: RobotsFile | undefined;
}

const located = new LocatedUrl();

const presets: ReadonlyMap<string, Profile> = new Map(Object.entries(profiles));

/** What the client of one run knew, rebuilt from its entries. Pure but for the rules that it compiles. */
export class ReplayState {
  readonly #run: RunEntry;
  readonly #bodyOf: BodyOf;
  /** The profile that is asked about instead of the recorded ones. */
  readonly #other: Profile | undefined;
  readonly #origins = new Map<string, RecordedOrigin>();
  /** The same origins under the other profile. */
  readonly #others = new Map<string, RecordedOrigin>();

  constructor(run: RunEntry, bodyOf: BodyOf, other: Profile | undefined) {
    this.#run = run;
    this.#bodyOf = bodyOf;
    this.#other = other;
  }

  /** Whether the run's profile is a known one. */
  get isKnown(): boolean {
    return this.#profileOf(this.#run.profile) !== undefined;
  }

  /** Takes an entry that is no decision. Returns what is wrong with it. */
  add(entry: EvidenceEntry): EntryFault | undefined {
    switch (entry.type) {
      case 'robots':
        return 'override' in entry ? this.#overridden(entry) : this.#attempted(entry);
      case 'stored':
        return this.#restored(entry);
      case 'signal':
        for (const known of this.#at(entry.origin)) known.signalled(entry);
        return undefined;
      default:
        return undefined;
    }
  }

  /**
   * Decides again under the recorded profile. `undefined` when the evidence lacks the record or the file.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  decide(recorded: DecisionEntry, agent: string = recorded.agent): ReplayedAgain | undefined {
    return this.#decideBy(this.#origins.get(recorded.origin), recorded, agent, recorded.at);
  }

  /**
   * Decides under the other profile, for `agent`. That profile would have fetched at other times: a stale response holds
   * until the next recorded one.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  decideUnderOverride(recorded: DecisionEntry, agent: string = recorded.agent): ReplayedAgain | undefined {
    const profile = this.#other;
    if (profile === undefined) return this.decide(recorded, agent);
    const known = this.#others.get(recorded.origin);
    const record = known?.versionOf(recorded.by)?.record;
    const answer = record?.answer;
    const staysValid = answer !== undefined && stateOf(record, profile, recorded.at).state === 'unknown';
    return this.#decideBy(known, recorded, agent, staysValid ? answer.staleAt - 1 : recorded.at);
  }

  #decideBy(
    known: RecordedOrigin | undefined,
    recorded: DecisionEntry,
    agent: string,
    at: number,
  ): ReplayedAgain | undefined {
    const { url, origin, by, usage } = recorded;
    if (locate(url, located).origin !== origin) return undefined;
    const override = known?.override;
    if (override !== undefined) {
      return withUsage(decideByOverride(override, [agent], located), override.file, usage);
    }
    if (by === undefined) {
      // About `/robots.txt` itself, or an `ftp:` origin without a transport.
      const profile = this.#other ?? this.#profileAt(origin);
      const decision = profile && decideUnknown(profile, !url.startsWith('ftp:'), [agent], located, at);
      return decision && withUsage(decision, undefined, usage);
    }
    const entry = known?.versionOf(by);
    if (entry === undefined) return undefined;
    const { record, profile: ruling } = entry;
    const readAt = recorded.paused === true ? timeInPause(record, ruling, at) : at;
    const decision = decide(entry, [agent], located, readAt, 'memory');
    const isByFile = decision.state === 'rules' || decision.state === 'last-good';
    return withUsage(decision, isByFile ? entry.file : undefined, usage);
  }

  #overridden(entry: OverrideEntry): EntryFault | undefined {
    const text = this.#bodyOf(entry.sha256);
    if (entry.override === 'text' && text === undefined) return 'missing-body';
    for (const known of this.#at(entry.origin)) known.overridden(entry, text);
    return undefined;
  }

  #restored(entry: StoredEntry): EntryFault | undefined {
    const body = entry.record.copy === undefined ? undefined : this.#bodyOf(entry.sha256);
    for (const known of this.#at(entry.origin)) known.restored(entry, body);
    return entry.record.copy !== undefined && body === undefined ? 'missing-body' : undefined;
  }

  #attempted(recorded: AttemptEntry): EntryFault | undefined {
    const [known, other] = this.#at(recorded.origin);
    if (known === undefined) return 'unknown-profile';
    const { outcome: kind, body, sha256, origin, status = 0 } = recorded;
    const readsFile = origin.startsWith('ftp:') || classifyStatus(status, known.profile) === 'rules';
    if (kind === 'success' && !readsFile) return 'unexpected-body';
    if (kind !== 'success' && (body ?? (kind === 'not-modified' ? undefined : sha256)) !== undefined)
      return 'unexpected-body';
    const outcome = outcomeOf(recorded, this.#bodyOf);
    if (outcome === undefined) return 'missing-body';
    const { record, random } = known.attempted(recorded, outcome);
    // `undefined`: the other profile would have read, or followed, what the recorded attempt did not.
    const reinterpreted = other && reinterpretLatest(record, other.profile);
    if (reinterpreted !== undefined) other?.attempted(recorded, reinterpreted, random ?? 0);
    return random === undefined ? 'impossible-times' : undefined;
  }

  /** The origin under the recorded profile, and under the other one. */
  #at(origin: string): RecordedOrigin[] {
    const profile = this.#profileAt(origin);
    if (profile === undefined) return [];
    const found = [originIn(this.#origins, origin, profile)];
    if (this.#other !== undefined) found.push(originIn(this.#others, origin, this.#other));
    return found;
  }

  #profileAt(origin: string): Profile | undefined {
    return this.#ownProfile(origin) ?? this.#profileOf(this.#run.profile);
  }

  #profileOf(name: string): Profile | undefined {
    return this.#ownProfile(name) ?? presets.get(name);
  }

  /** A profile of the run itself, by its name or by the origin that has it. */
  #ownProfile(name: string): Profile | undefined {
    const own = this.#run.profiles;
    return own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
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

function originIn(origins: Map<string, RecordedOrigin>, origin: string, profile: Profile): RecordedOrigin {
  let known = origins.get(origin);
  if (known === undefined) origins.set(origin, (known = new RecordedOrigin(origin, profile)));
  return known;
}
