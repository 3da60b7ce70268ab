import { type Decision, decide, decideByOverride, decideUnknown } from '../../core/decision/index.ts';
import { reinterpretLatest, type Profile, profiles, stateOf } from '../../core/lifecycle/index.ts';
import { locate, LocatedUrl } from '../../core/url/index.ts';
import type {
  AttemptEntry,
  DecisionEntry,
  EvidenceEntry,
  RunEntry,
} from '../../core/client/evidence/entry.ts';
import { type BodyOf, outcomeOf, RecordedOrigin } from './recorded-origin.ts';

/** What does not fit in an entry: it was not made by the engine that its run names, or it was changed since. */
export type EvidenceFault = 'unknown-profile' | 'missing-body' | 'impossible-times';

const located = new LocatedUrl();

const presets: ReadonlyMap<string, Profile> = new Map(Object.entries(profiles));

/** The origins of one run, put together again from its entries. Pure but for the rules that it compiles. */
export class Fold {
  readonly #bodyOf: BodyOf;
  /** The profile that is asked about instead of the recorded ones. */
  readonly #other: Profile | undefined;
  #run: RunEntry | undefined;
  readonly #origins = new Map<string, RecordedOrigin>();
  /** The same origins under the other profile. */
  readonly #others = new Map<string, RecordedOrigin>();

  constructor(bodyOf: BodyOf, other: Profile | undefined) {
    this.#bodyOf = bodyOf;
    this.#other = other;
  }

  /**
   * Takes in an entry that is no decision. Returns what is wrong with it.
   *
   * @param number The number of the entry within its run.
   */
  add(entry: Exclude<EvidenceEntry, DecisionEntry>, number: number): EvidenceFault | undefined {
    if (entry.type === 'run') {
      this.#run = entry;
      this.#origins.clear();
      this.#others.clear();
      return this.#profileOf(entry.profile) === undefined ? 'unknown-profile' : undefined;
    }
    if (entry.type === 'ignored') return undefined;
    if (entry.type === 'robots' && 'outcome' in entry) return this.#attempted(entry, number);
    for (const known of this.#at(entry.origin)) {
      if (entry.type === 'robots') {
        const text = this.#bodyOf(entry.sha256);
        if (entry.override === 'text' && text === undefined) return 'missing-body';
        known.overridden(entry, text);
      } else if (entry.type === 'stored') known.restored(entry, this.#bodyOf, number);
      else if (entry.type === 'signal') known.signalled(entry, number);
      else known.forgotten();
    }
    return undefined;
  }

  /**
   * The decision about a recorded question, as the recorded profile makes it; `undefined` when the evidence lacks what it
   * rests on.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  decide(recorded: DecisionEntry, agent: string = recorded.agent): Decision | undefined {
    const { url, origin, at } = recorded;
    if (locate(url, located).origin !== origin) return undefined;
    const known = this.#origins.get(origin);
    if (known?.override !== undefined) return decideByOverride(known.override, [agent], located);
    const entry = known?.versionOf(recorded.by);
    return entry === undefined
      ? this.#decideUnknown(this.#profileAt(origin), recorded, agent)
      : decide(entry, [agent], located, at, 'memory');
  }

  /**
   * The decision under the other profile, for `agent`. Under it attempts would have been made at other times: an answer
   * that is stale, with no attempt recorded since, holds on.
   *
   * @throws as {@link decide}
   */
  decideOtherwise(recorded: DecisionEntry, agent: string = recorded.agent): Decision | undefined {
    const profile = this.#other;
    if (profile === undefined) return this.decide(recorded, agent);
    if (locate(recorded.url, located).origin !== recorded.origin) return undefined;
    const known = this.#others.get(recorded.origin);
    if (known?.override !== undefined) return decideByOverride(known.override, [agent], located);
    const entry = known?.versionOf(recorded.by);
    if (entry === undefined) return this.#decideUnknown(profile, recorded, agent);
    const { answer } = entry.record;
    const holdsOn = answer !== undefined && stateOf(entry.record, profile, recorded.at).state === 'unknown';
    return decide(entry, [agent], located, holdsOn ? answer.staleAt - 1 : recorded.at, 'memory');
  }

  /** The decision without a record: about `/robots.txt` itself, or by `ftp:` without a transport for it. */
  #decideUnknown(
    profile: Profile | undefined,
    { url, at }: DecisionEntry,
    agent: string,
  ): Decision | undefined {
    return profile && decideUnknown(profile, !url.startsWith('ftp:'), [agent], located, at);
  }

  #attempted(recorded: AttemptEntry, number: number): EvidenceFault | undefined {
    const [known, other] = this.#at(recorded.origin);
    if (known === undefined) return 'unknown-profile';
    const outcome = outcomeOf(recorded, this.#bodyOf);
    if (outcome === undefined) return 'missing-body';
    const { record, random } = known.attempted(recorded, outcome, number);
    // `undefined`: the other profile would have read, or followed, what the recorded attempt did not.
    const otherwise = other && reinterpretLatest(record, other.profile);
    if (otherwise !== undefined) other?.attempted(recorded, otherwise, number, random ?? 0);
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
    return this.#ownProfile(origin) ?? this.#profileOf(this.#run?.profile ?? '');
  }

  #profileOf(name: string): Profile | undefined {
    return this.#ownProfile(name) ?? presets.get(name);
  }

  /** A profile that the run itself has written down, by its name or by the origin that has it. */
  #ownProfile(name: string): Profile | undefined {
    const own = this.#run?.profiles;
    return own !== undefined && Object.hasOwn(own, name) ? own[name] : undefined;
  }
}

function originIn(origins: Map<string, RecordedOrigin>, origin: string, profile: Profile): RecordedOrigin {
  let known = origins.get(origin);
  if (known === undefined) origins.set(origin, (known = new RecordedOrigin(origin, profile)));
  return known;
}
