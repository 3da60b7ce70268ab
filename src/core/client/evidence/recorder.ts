import { invokeListener, type Clock, omitUndefined, urlWithoutUserinfo, VERSION } from '../../base/index.ts';
import type { RecordObserver, ObservedAttempt } from '../../cache/index.ts';
import type {
  Decision,
  DecisionContext,
  OverriddenOrigin,
  Pause,
  SentRequest,
} from '../../decision/index.ts';
import {
  type RobotsResponseHeaders,
  type OriginRecord,
  type Outcome,
  type Profile,
  profiles,
  type Redirect,
} from '../../lifecycle/index.ts';
import type { Agent } from '../../rules/agent-tokens.ts';
import type {
  AttemptEntry,
  DecisionEntry,
  EvidenceEntry,
  RequestEntry,
  RobotsRequest,
  StoredEntry,
} from './entry.ts';

/** What a client's evidence begins with. */
export interface RecordedClient {
  readonly agent: Agent;
  readonly profile: Profile;
  /** Profiles of single origins, by origin. */
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly overrides: ReadonlyMap<string, OverriddenOrigin>;
  readonly clock: Clock;
}

interface Made {
  readonly at: number;
  readonly record: OriginRecord | undefined;
  /** Whether the record served past its lifetime, in a pause. */
  readonly paused: boolean;
}

/** Makes the entries of one client's evidence, and passes them on in order. */
export class Recorder implements RecordObserver {
  /** Random, so that runs of different processes can share a file. */
  readonly #run: string = newRunId();
  readonly #listener: (entry: EvidenceEntry) => void;
  readonly #clock: Clock;
  #entries = 0;
  /** The latest decision that was made. Nearly always it is the next to be published. */
  #latest: Decision | undefined;
  #latestMade: Made = { at: 0, record: undefined, paused: false };
  /** Decisions that others were made after: a guard publishes when its request starts. */
  readonly #made = new WeakMap<Decision, Made>();
  /** Numbers of the entries with these records. */
  readonly #numbers = new WeakMap<OriginRecord, number>();
  /** The same, the other way round. */
  readonly #records = new NumberedRecords();

  constructor(listener: (entry: EvidenceEntry) => void, client: RecordedClient) {
    this.#listener = listener;
    this.#clock = client.clock;
    runs.add(this.#run, this.#records);
    const at = client.clock.now();
    const own = Object.fromEntries(client.profiles);
    if (!isBuiltIn(client.profile)) own[client.profile.name] = client.profile;
    this.#write({
      type: 'run',
      ...this.#stamp(at),
      version: VERSION,
      profile: client.profile.name,
      ...omitUndefined({ profiles: Object.keys(own).length === 0 ? undefined : own }),
      agent: client.agent,
    });
    for (const override of client.overrides.values()) this.#overridden(override, at);
  }

  onAttempt({ origin, outcome, previous, record, profile, at, isKept }: ObservedAttempt): void {
    const { headers, suspect, kind } = outcome;
    const { answer, copy, failure } = record;
    const digest = kind === 'success' || kind === 'not-modified' ? copy?.sha256 : undefined;
    const entry: AttemptEntry = omitUndefined({
      type: 'robots',
      ...this.#stamp(at),
      origin,
      outcome: kind,
      requests: requestsOf(outcome),
      status: outcome.status,
      error: kind === 'unreachable' ? outcome.error : undefined,
      reason: kind === 'unavailable' ? outcome.reason : undefined,
      headers: headers && plainHeaders(headers),
      retryAfterMs: kind === 'unreachable' ? outcome.retryAfterMs : undefined,
      sha256: digest,
      body: kind === 'success' ? outcome.body : undefined,
      truncated: isTrue(kind === 'success' && outcome.truncated),
      suspect,
      profile: profile.name,
      staleAt: failure === undefined ? answer?.staleAt : undefined,
      retryAt: failure?.retryAt,
      detached: isTrue(!isKept),
      previous: previous && this.#numbers.get(previous),
    });
    this.#write(entry, { record, profile: profile.name });
  }

  onRecordRestored(record: OriginRecord, profile: Profile, isKept: boolean): void {
    const known = { record, profile: profile.name };
    const entry = { ...storedEntry(known, this.#stamp()), ...omitUndefined({ detached: isTrue(!isKept) }) };
    this.#write(entry, known);
  }

  onSiteSignal(before: OriginRecord | undefined, record: OriginRecord, reachable: boolean, at: number): void {
    const previous = before && this.#numbers.get(before);
    const profile = (previous === undefined ? undefined : this.#records.get(previous)?.profile) ?? '';
    const { origin } = record;
    this.#write(
      { type: 'signal', ...this.#stamp(at), origin, reachable, ...omitUndefined({ previous }) },
      { record, profile },
    );
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
  onDecisionPublished(decision: Decision, context: DecisionContext = {}): void {
    const { url, origin, agent, profile, allowed, state, reason, rule, robots, because } = decision;
    const { requested, lookup } = context;
    const { at = this.#clock.now(), record, paused } = this.#takeMade(decision) ?? {};
    const entry: Mutable<DecisionEntry> = {
      type: 'decision',
      at,
      run: this.#run,
      n: this.#entries,
      origin,
      url: urlWithoutUserinfo(url),
      agent,
      profile,
      allowed,
      state,
      reason,
    };
    if (rule !== undefined) entry.rule = rule;
    if (robots.sha256 !== undefined) entry.sha256 = robots.sha256;
    if (requested !== undefined && requested !== url) entry.requested = urlWithoutUserinfo(requested);
    const usage = context.usage ?? decision.usage;
    if (usage !== undefined) entry.usage = usage;
    if (because !== undefined) entry.because = because;
    if (lookup === true) entry.lookup = true;
    if (paused === true) entry.paused = true;
    const by = record && this.#numbers.get(record);
    if (by !== undefined) entry.by = by;
    this.#write(entry);
  }

  /** A guard sends a request without a check. */
  onIgnored(url: string, because: string): void {
    const { origin } = new URL(url);
    this.#write({ type: 'ignored', ...this.#stamp(), origin, url: urlWithoutUserinfo(url), because });
  }

  onRequest(request: SentRequest): void {
    const { origin, url, startedAt, status, error, refused, retryAfter, price, pacing } = request;
    const entry: Mutable<RequestEntry> = {
      type: 'request',
      at: this.#clock.now(),
      run: this.#run,
      n: this.#entries,
      origin,
      url: urlWithoutUserinfo(url),
      startedAt,
    };
    if (status !== undefined) entry.status = status;
    if (error !== undefined) entry.error = error;
    if (refused !== undefined) entry.refused = refused;
    if (retryAfter !== undefined) entry.retryAfter = retryAfter;
    if (price !== undefined) entry.price = price;
    if (pacing !== undefined) entry.pacing = pacing;
    this.#write(entry);
  }

  onDeferral({ origin, url }: Decision, retryAt: number, delayFrom: string): void {
    this.#write({
      type: 'deferred',
      ...this.#stamp(),
      origin,
      url: urlWithoutUserinfo(url),
      retryAt,
      delayFrom,
    });
  }

  onPause(origin: string, { from, until, delayFrom, status }: Pause): void {
    this.#write({
      type: 'pause',
      ...this.#stamp(),
      origin,
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

  /** @param known What is known of the origin after the entry. */
  #write(entry: EvidenceEntry, known?: KnownOrigin): void {
    if (known !== undefined) {
      this.#numbers.set(known.record, this.#entries);
      this.#records.set(this.#entries, known);
    }
    this.#entries++;
    invokeListener('evidence', this.#listener, entry);
  }
}

/** For entries of each request: `omitUndefined` would take longer than all the rest. */
type Mutable<Entry> = { -readonly [Name in keyof Entry]: Entry[Name] };
type Stamp = Pick<EvidenceEntry, 'at' | 'run' | 'n'>;

interface KnownOrigin {
  readonly record: OriginRecord;
  /** Name of its profile. */
  readonly profile: string;
}

/** Records by the numbers of their entries, as long as the client has them in use. */
class NumberedRecords {
  readonly #records = new Map<number, { readonly record: WeakRef<OriginRecord>; readonly profile: string }>();
  readonly #dropped = new FinalizationRegistry<number>((number) => this.#records.delete(number));

  set(number: number, { record, profile }: KnownOrigin): void {
    this.#records.set(number, { record: new WeakRef(record), profile });
    this.#dropped.register(record, number);
  }

  get(number: number): KnownOrigin | undefined {
    const { record, profile = '' } = this.#records.get(number) ?? {};
    const held = record?.deref();
    return held && { record: held, profile };
  }
}

/** The records of the clients that write evidence, by run. */
class Runs {
  readonly #runs = new Map<string, WeakRef<NumberedRecords>>();
  readonly #dropped = new FinalizationRegistry<string>((run) => this.#runs.delete(run));

  add(run: string, records: NumberedRecords): void {
    this.#runs.set(run, new WeakRef(records));
    this.#dropped.register(records, run);
  }

  get(run: string, number: number): KnownOrigin | undefined {
    return this.#runs.get(run)?.deref()?.get(number);
  }
}

const runs = new Runs();

/**
 * What was known of an origin after entry `number` of a run, for a file that begins after that entry. `undefined` when the
 * client no longer has that record.
 */
export function restated(run: string, number: number, at: number): StoredEntry | undefined {
  const known = runs.get(run, number);
  return known && { ...storedEntry(known, { at, run, n: number }), restated: true };
}

function storedEntry({ record, profile }: KnownOrigin, stamp: Stamp): StoredEntry {
  const { copy, answer, failure, ...rest } = record;
  const others = omitUndefined({
    ...rest,
    answer: answer && plainLast(answer),
    failure: failure && plainLast(failure),
  });
  const base = { type: 'stored' as const, ...stamp, origin: record.origin, profile };
  if (copy === undefined) return { ...base, record: others };
  const { body, ...described } = copy;
  return { ...base, record: { ...others, copy: described }, ...omitUndefined({ sha256: copy.sha256, body }) };
}

function newRunId(): string {
  return crypto.randomUUID().replaceAll('-', '').slice(0, 16);
}

function isTrue(fact: boolean): true | undefined {
  return fact || undefined;
}

function isBuiltIn(profile: Profile): boolean {
  return Object.values(profiles).includes(profile);
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
