import { type Clock, invokeListener, omitUndefined, urlWithoutUserinfo, VERSION } from '../../base/index.ts';
import type { RecordObserver, ObservedAttempt } from '../../cache/index.ts';
import {
  BODY_UNREAD,
  type ClientEvent,
  type ClientListener,
  type Decision,
  type OverriddenOrigin,
} from '../../decision/index.ts';
import {
  type Copy,
  type RobotsResponseHeaders,
  type OriginRecord,
  type Outcome,
  type Profile,
  profiles,
  type Redirect,
} from '../../lifecycle/index.ts';
import type {
  AttemptEntry,
  DecisionEntry,
  EvidenceEntry,
  RobotsRequest,
  SignalEntry,
  StoredEntry,
} from './entry.ts';
import type { OriginSettings, Settings } from '../settings.ts';
import type { RecordWithoutBody } from '../../store/record/record-schema.ts';

interface Made {
  readonly at: number | undefined;
  readonly record: OriginRecord | undefined;
  /** Whether the record served past its lifetime, in a pause. */
  readonly paused: boolean;
}

/** Of a decision that was published without being made by this client. */
const UNKNOWN: Made = { at: undefined, record: undefined, paused: false };

/** Makes the entries of one client's evidence, and passes them on in order. */
export class Recorder implements RecordObserver, ClientListener {
  /** Random, so that runs of different processes can share a file. */
  readonly #run: string = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
  readonly #listener: (entry: EvidenceEntry) => void;
  readonly #clock: Clock;
  #entries = 0;
  /** The latest decision that was made. Nearly always it is the next to be published. */
  #latest: Decision | undefined;
  #latestMade: Made = UNKNOWN;
  /** Decisions that others were made after: a guard publishes when its request starts. */
  readonly #made = new WeakMap<Decision, Made>();
  /** Numbers of the entries with these records. */
  readonly #numbers = new WeakMap<OriginRecord, number>();

  constructor(
    listener: (entry: EvidenceEntry) => void,
    { agent, profile, clock }: Settings,
    origins: OriginSettings,
  ) {
    this.#listener = listener;
    this.#clock = clock;
    const at = clock.now();
    const own = Object.fromEntries(origins.profiles);
    if (!Object.values(profiles).includes(profile)) own[profile.name] = profile;
    this.#write({
      type: 'run',
      ...this.#stamp(at),
      version: VERSION,
      profile: profile.name,
      ...omitUndefined({ profiles: Object.keys(own).length === 0 ? undefined : own }),
      agent,
    });
    for (const override of origins.overrides.values()) this.#overridden(override, at);
  }

  onAttempt({ origin, outcome, record, profile, at, isKept }: ObservedAttempt): void {
    const { kind } = outcome;
    const digest = kind === 'success' || kind === 'not-modified' ? record.copy?.sha256 : undefined;
    this.#writeKnown(record, {
      type: 'robots',
      ...this.#stamp(at),
      origin,
      outcome: kind,
      requests: requestsOf(outcome),
      ...omitUndefined({
        status: outcome.status,
        error: kind === 'unreachable' ? outcome.error : undefined,
        reason: kind === 'unavailable' ? outcome.reason : undefined,
        sha256: digest,
        body: kind === 'success' ? outcome.body : undefined,
        detached: isKept ? undefined : true,
      }),
      profile: profile.name,
      record: writtenRecord(record),
    });
  }

  onRecordRestored(record: OriginRecord, profile: Profile, isKept: boolean): void {
    const entry = storedEntry(record, profile.name, this.#stamp());
    this.#writeKnown(record, isKept ? entry : { ...entry, detached: true });
  }

  onSiteSignal(record: OriginRecord, reachable: boolean, at: number): void {
    const { origin } = record;
    this.#writeKnown(record, {
      type: 'signal',
      ...this.#stamp(at),
      origin,
      reachable,
      record: writtenRecord(record),
    });
  }

  onBackoffRestarted(before: OriginRecord, after: OriginRecord): void {
    const number = this.#numbers.get(before);
    if (number !== undefined) this.#numbers.set(after, number);
  }

  onRemoved(origin: string, reason: 'invalidated' | 'evicted'): void {
    this.#write({ type: 'forgotten', ...this.#stamp(), origin, reason });
  }

  /** Remembers when, and from which record, a decision was made, in case it is published. */
  onDecisionMade(decision: Decision, at: number, record?: OriginRecord, paused = false): void {
    if (this.#latest !== undefined) this.#made.set(this.#latest, this.#latestMade);
    this.#latest = decision;
    this.#latestMade = { at, record, paused };
  }

  /** A decision is published. */
  decision({ decision, requested, lookup, usage: used }: ClientEvent<'decision'>): void {
    const { at, record, paused } = this.#takeMade(decision) ?? UNKNOWN;
    const { url, rule, robots, because, usage: decided } = decision;
    const entry = new RecordedDecision(this.#run, this.#entries, at ?? this.#clock.now(), decision, record);
    if (rule !== undefined) entry.rule = rule;
    if (robots.sha256 !== undefined) entry.sha256 = robots.sha256;
    if (requested !== undefined && requested !== url) entry.requested = urlWithoutUserinfo(requested);
    const usage = used ?? decided;
    if (usage !== undefined) entry.usage = usage;
    if (because !== undefined) entry.because = because;
    if (lookup === true) entry.lookup = true;
    if (paused) entry.paused = true;
    const by = record && this.#numbers.get(record);
    if (by !== undefined) entry.by = by;
    this.#write(entry);
  }

  /** A guard sends a request without a check. */
  ignored({ url, because }: ClientEvent<'ignored'>): void {
    const { origin } = new URL(url);
    this.#write({ type: 'ignored', ...this.#stamp(), origin, url: urlWithoutUserinfo(url), because });
  }

  request(request: ClientEvent<'request'>): void {
    const { gatekeeper: _, origin, url, ...sent } = request;
    this.#write({ type: 'request', ...this.#stamp(), origin, url: urlWithoutUserinfo(url), ...sent });
  }

  body({ origin, url, status, error }: ClientEvent<'body'>): void {
    if (error === BODY_UNREAD) return;
    this.#write({ type: 'cut', ...this.#stamp(), origin, url: urlWithoutUserinfo(url), status, error });
  }

  deferred({ decision: { origin, url }, retryAt, delayFrom }: ClientEvent<'deferred'>): void {
    this.#write({
      type: 'deferred',
      ...this.#stamp(),
      origin,
      url: urlWithoutUserinfo(url),
      retryAt,
      delayFrom,
    });
  }

  pause({ scope, origin, from, until, delayFrom, status }: ClientEvent<'pause'>): void {
    this.#write({
      type: 'pause',
      ...this.#stamp(),
      origin,
      scope,
      from,
      until,
      delayFrom,
      ...omitUndefined({ status }),
    });
  }

  #overridden({ origin, state, robots, because, profile, file }: OverriddenOrigin, at: number): void {
    this.#write({
      type: 'robots',
      ...this.#stamp(at),
      origin,
      override: state === 'rules' ? 'text' : state === 'allow-all' ? 'allow' : 'disallow',
      ...omitUndefined({ because, sha256: robots.sha256, body: file?.bytes }),
      profile,
    });
  }

  #takeMade(decision: Decision): Made | undefined {
    if (decision !== this.#latest) return this.#made.get(decision);
    this.#latest = undefined;
    return this.#latestMade;
  }

  #stamp(at: number = this.#clock.now()): Stamp {
    return { at, run: this.#run, n: this.#entries };
  }

  /** @param record What is known of the origin after the entry. */
  #writeKnown(record: OriginRecord, entry: AttemptEntry | StoredEntry | SignalEntry): void {
    this.#numbers.set(record, this.#entries);
    this.#write(entry);
  }

  #write(entry: EvidenceEntry): void {
    this.#entries++;
    invokeListener('evidence', this.#listener, entry);
  }
}

type Stamp = Pick<EvidenceEntry, 'at' | 'run' | 'n'>;

/**
 * The entry of a decision, with the record that it rests on. Neither JSON nor a copy of the entry has the record. A weak map
 * from entries to records would take as long as all else that a decision takes.
 */
class RecordedDecision implements DecisionEntry {
  readonly #record: OriginRecord | undefined;
  readonly type = 'decision';
  readonly at: number;
  readonly run: string;
  readonly n: number;
  readonly origin: string;
  readonly url: string;
  readonly agent: string;
  readonly profile: string;
  readonly allowed: boolean;
  readonly state: DecisionEntry['state'];
  readonly reason: DecisionEntry['reason'];
  declare rule?: NonNullable<DecisionEntry['rule']>;
  declare sha256?: string;
  declare requested?: string;
  declare usage?: NonNullable<DecisionEntry['usage']>;
  declare because?: string;
  declare lookup?: true;
  declare paused?: true;
  declare by?: number;

  constructor(run: string, n: number, at: number, decision: Decision, record: OriginRecord | undefined) {
    this.#record = record;
    this.at = at;
    this.run = run;
    this.n = n;
    this.origin = decision.origin;
    this.url = urlWithoutUserinfo(decision.url);
    this.agent = decision.agent;
    this.profile = decision.profile;
    this.allowed = decision.allowed;
    this.state = decision.state;
    this.reason = decision.reason;
  }

  static recordOf(entry: DecisionEntry): OriginRecord | undefined {
    return #record in entry ? entry.#record : undefined;
  }
}

/**
 * The record that a decision rests on, for a file that does not have its entry: the file was begun after that entry.
 * `undefined` when no record decided.
 */
export function restatedRecord(decision: DecisionEntry): StoredEntry | undefined {
  const { by, at, run, profile } = decision;
  const record = RecordedDecision.recordOf(decision);
  if (by === undefined || record === undefined) return undefined;
  return { ...storedEntry(record, profile, { at, run, n: by }), restated: true };
}

function storedEntry(record: OriginRecord, profile: string, stamp: Stamp): StoredEntry {
  const { origin, copy } = record;
  const file = copy === undefined ? {} : omitUndefined({ sha256: copy.sha256, body: copy.body });
  return { type: 'stored', ...stamp, origin, profile, record: writtenRecord(record), ...file };
}

/** A record without its body, and without user names and passwords. */
function writtenRecord({ copy, answer, failure, ...others }: OriginRecord): RecordWithoutBody {
  return {
    ...others,
    ...omitUndefined({
      answer: answer && plainLast(answer),
      copy: copy && withoutBody(copy),
      failure: failure && plainLast(failure),
    }),
  };
}

function withoutBody(copy: Copy): Omit<Copy, 'body'> {
  const { body: _, ...described } = copy;
  return described;
}

function requestsOf({ finalUrl, redirects = [], status }: Outcome): RobotsRequest[] {
  const last: RobotsRequest = status === undefined ? { url: finalUrl } : { url: finalUrl, status };
  return [...redirects.map(plainRedirect), { ...last, url: urlWithoutUserinfo(last.url) }];
}

function plainRedirect({ url, status, location }: Redirect): Redirect {
  return { url: urlWithoutUserinfo(url), status, location: urlWithoutUserinfo(location) };
}

/** A response, or a failure, without user names and passwords. */
function plainLast<
  Last extends { readonly redirects?: readonly Redirect[]; readonly headers?: RobotsResponseHeaders },
>(last: Last): Last {
  const { redirects, headers } = last;
  return {
    ...last,
    ...omitUndefined({ redirects: redirects?.map(plainRedirect), headers: headers && plainHeaders(headers) }),
  };
}

function plainHeaders(headers: RobotsResponseHeaders): RobotsResponseHeaders {
  const { location } = headers;
  return location === undefined ? headers : { ...headers, location: urlWithoutUserinfo(location) };
}
