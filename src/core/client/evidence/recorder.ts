import { type Clock, invokeListener, omitUndefined, urlWithoutUserinfo, VERSION } from '../../base/index.ts';
import type { RecordChange } from '../../cache/cache-events.ts';
import {
  BODY_UNREAD,
  type ClientEvent,
  type ClientListener,
  type Decision,
  type OverriddenOrigin,
  type RobotsSource,
} from '../../decision/index.ts';
import {
  type ConclusiveResponse,
  type Failure,
  type OriginRecord,
  type Outcome,
  type Profile,
  profiles,
  type Redirect,
  type RobotsResponseHeaders,
} from '../../lifecycle/index.ts';
import type {
  AttemptEntry,
  DecisionEntry,
  EvidenceEntry,
  IgnoredEntry,
  OverrideEntry,
  RobotsRequest,
  StoredEntry,
} from './entry.ts';
import type { OriginSettings } from '../origin-settings.ts';
import type { Settings } from '../settings.ts';

/** An entry that decisions rest on. */
export type BasisEntry = AttemptEntry | OverrideEntry | StoredEntry;

/** What a record knows by one attempt. */
type Basis = ConclusiveResponse | Failure;

interface Made {
  readonly at: number | undefined;
  readonly record: OriginRecord | undefined;
  /** Whether the record served past its lifetime, in a pause. */
  readonly paused: boolean;
}

/** Of a decision that was published without being made by this client. */
const UNKNOWN: Made = { at: undefined, record: undefined, paused: false };

/** Makes the entries of one client's evidence, and passes them on in order. */
export class Recorder implements ClientListener {
  /** Random, so that runs of different processes can share a file. */
  readonly #run: string = crypto.randomUUID().replaceAll('-', '').slice(0, 16);
  readonly #listener: (entry: EvidenceEntry) => void;
  readonly #clock: Clock;
  #entries = 0;
  /** A guard publishes a decision when its request starts. */
  readonly #made = new WeakMap<Decision, Made>();
  /** The entry of a response, of a failure, or of an override. */
  readonly #entryOf = new WeakMap<Basis | RobotsSource, BasisEntry>();
  /** By origin, the last of them: what the log says of a URL that is requested without a decision. */
  readonly #latest = new Map<string, BasisEntry>();

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
    for (const override of origins.overrides) this.#overridden(override, at);
  }

  /** What memory did. */
  onRecordChange(change: RecordChange): void {
    switch (change.type) {
      case 'attempt':
        return this.#attempted(change);
      case 'restored':
        return this.#restored(change.record, change.profile);
      case 'signal':
        return this.#write({ ...change, ...this.#stamp(change.at) });
      case 'backoff-restarted':
        return this.#restarted(change.before.failure, change.after.failure);
      case 'removed':
        this.#latest.delete(change.origin);
        return this.#write({ ...change, type: 'forgotten', ...this.#stamp() });
    }
  }

  #attempted({
    origin,
    outcome,
    record,
    profile,
    at,
  }: Extract<RecordChange, { readonly type: 'attempt' }>): void {
    const basis = record.failure ?? record.answer;
    if (basis === undefined) return;
    this.#writeBasis(basis, {
      type: 'robots',
      ...this.#stamp(at),
      origin,
      requests: requestsOf(outcome),
      ...outcomeIn(record, basis, profile),
    });
  }

  #restored(record: OriginRecord, profile: Profile): void {
    const { origin, answer, failure } = record;
    for (const basis of [answer, failure]) {
      // Memory may have had the better record.
      if (basis === undefined || this.#entryOf.has(basis)) continue;
      const { finalUrl, hops } = basis;
      this.#writeBasis(basis, {
        type: 'stored',
        ...this.#stamp(),
        origin,
        finalUrl: urlWithoutUserinfo(finalUrl),
        hops,
        fetchedAt: 'kind' in basis ? basis.fetchedAt : basis.at,
        ...outcomeIn(record, basis, profile),
      });
    }
  }

  #restarted(before: Failure | undefined, after: Failure | undefined): void {
    const entry = before && this.#entryOf.get(before);
    if (entry !== undefined && after !== undefined) this.#entryOf.set(after, entry);
  }

  /** Remembers when, and from which record, a decision was made, in case it is published. */
  onDecisionMade(decision: Decision, at: number, record?: OriginRecord, paused = false): void {
    this.#made.set(decision, { at, record, paused });
  }

  /** A decision is published. */
  decision(event: ClientEvent<'decision'>): void {
    const { decision, requested, request, refused, lookup, usage: used } = event;
    const { at, record, paused } = this.#made.get(decision) ?? UNKNOWN;
    const { origin, url, agent, profile, allowed, state, reason } = decision;
    const { rule, robots, because, usage: decided } = decision;
    const basis = record === undefined ? robots : basisIn(decision, record);
    const known = basis && this.#entryOf.get(basis);
    const entry: { -readonly [Name in keyof Based<DecisionEntry>]: Based<DecisionEntry>[Name] } = {
      type: 'decision',
      at: at ?? this.#clock.now(),
      run: this.#run,
      n: this.#entries,
      origin,
      url: urlWithoutUserinfo(url),
      agent,
      profile,
      allowed,
      state,
      reason,
      [BASIS]: known,
    };
    if (rule !== undefined) entry.rule = rule;
    if (robots.sha256 !== undefined) entry.sha256 = robots.sha256;
    if (requested !== undefined && requested !== url) entry.requested = urlWithoutUserinfo(requested);
    const usage = used ?? decided;
    if (usage !== undefined) entry.usage = usage;
    if (because !== undefined) entry.because = because;
    if (lookup === true) entry.lookup = true;
    else if (request !== true) entry.question = true;
    if (refused === true) entry.refused = true;
    if (paused) entry.paused = true;
    if (known !== undefined) entry.by = known.n;
    if (record?.failure !== undefined && record.site?.reachable === true) entry.siteReachable = true;
    this.#write(entry);
  }

  /** A guard sends a request without a check. */
  ignored({ url, because }: ClientEvent<'ignored'>): void {
    const { origin } = new URL(url);
    const entry: Based<IgnoredEntry> = {
      type: 'ignored',
      ...this.#about(origin, url),
      because,
      [BASIS]: this.#latest.get(origin),
    };
    this.#write(entry);
  }

  request(request: ClientEvent<'request'>): void {
    const { gatekeeper: _, origin, url, ...sent } = request;
    this.#write({ type: 'request', ...this.#about(origin, url), ...sent });
  }

  body({ origin, url, status, error }: ClientEvent<'body'>): void {
    if (error === BODY_UNREAD) return;
    this.#write({ type: 'cut', ...this.#about(origin, url), status, error });
  }

  deferred({ decision: { origin, url }, retryAt, delayFrom }: ClientEvent<'deferred'>): void {
    this.#write({ type: 'deferred', ...this.#about(origin, url), retryAt, delayFrom });
  }

  pause(event: ClientEvent<'pause'>): void {
    const { incident: _, ...pause } = event;
    this.#write({ type: 'pause', ...this.#stamp(), ...pause });
  }

  #overridden({ origin, state, robots, because, profile, file }: OverriddenOrigin, at: number): void {
    this.#writeBasis(robots, {
      type: 'robots',
      ...this.#stamp(at),
      origin,
      override: state === 'rules' ? 'text' : state === 'allow-all' ? 'allow' : 'disallow',
      ...omitUndefined({ because, sha256: robots.sha256, body: file?.bytes }),
      profile,
    });
  }

  #stamp(at: number = this.#clock.now()): Stamp {
    return { at, run: this.#run, n: this.#entries };
  }

  #about(origin: string, url: string): Stamp & Pick<DecisionEntry, 'origin' | 'url'> {
    return { ...this.#stamp(), origin, url: urlWithoutUserinfo(url) };
  }

  #writeBasis(basis: Basis | RobotsSource, entry: BasisEntry): void {
    this.#entryOf.set(basis, entry);
    this.#latest.set(entry.origin, entry);
    this.#write(entry);
  }

  #write(entry: EvidenceEntry): void {
    this.#entries++;
    invokeListener('evidence', this.#listener, entry);
  }
}

type Stamp = Pick<EvidenceEntry, 'at' | 'run' | 'n'>;

/** Copies of an entry have it, JSON does not. */
const BASIS: unique symbol = Symbol.for('canfetch.evidence.basis');

type Based<Entry> = Entry & { readonly [BASIS]?: BasisEntry | undefined };

/** The entry that another one rests on, for a file that was begun after it. */
export function basisOf(entry: Based<EvidenceEntry>): BasisEntry | undefined {
  return entry[BASIS];
}

/** The part of a record that a decision rests on. */
function basisIn({ reason, state, robots }: Decision, { answer, failure }: OriginRecord): Basis | undefined {
  const isByFailure = reason === 'robots-txt' ? robots.error !== undefined : reason.startsWith('unreachable');
  return isByFailure || state === 'last-good' ? (failure ?? answer) : (answer ?? failure);
}

/** What a record has by its response, or by the failure since. */
function outcomeIn(
  { answer, copy }: OriginRecord,
  basis: Basis,
  { name: profile, keepCopyOnUnavailableMs }: Profile,
): Omit<AttemptEntry, 'type' | 'at' | 'run' | 'n' | 'origin' | 'requests'> {
  const { status, headers } = basis;
  const known = {
    headers: headers && plainHeaders(headers),
    copyUntil: copy && answer?.kind === 'unavailable' ? answer.since + keepCopyOnUnavailableMs : undefined,
    sha256: copy?.sha256,
    body: copy?.body,
  };
  if (!('kind' in basis)) {
    const { error, suspect, since, retryAt } = basis;
    return {
      outcome: 'unreachable',
      ...omitUndefined({ status, error, suspect, since, retryAt, ...known }),
      profile,
    };
  }
  const { kind, staleAt } = basis;
  if (kind !== 'rules') {
    const reason = kind === 'unavailable' ? basis.reason : undefined;
    const { suspect } = basis;
    return { outcome: kind, ...omitUndefined({ status, reason, suspect, staleAt, ...known }), profile };
  }
  const isConfirmed = basis.notModified === true;
  return {
    outcome: isConfirmed ? 'not-modified' : 'success',
    status: isConfirmed ? 304 : basis.status,
    ...omitUndefined({ suspect: copy?.suspect, staleAt, ...known }),
    profile,
  };
}

function requestsOf({ finalUrl, redirects = [], status }: Outcome): RobotsRequest[] {
  const last: RobotsRequest = status === undefined ? { url: finalUrl } : { url: finalUrl, status };
  return [...redirects.map(plainRedirect), { ...last, url: urlWithoutUserinfo(last.url) }];
}

function plainRedirect({ url, status, location }: Redirect): Redirect {
  return { url: urlWithoutUserinfo(url), status, location: urlWithoutUserinfo(location) };
}

function plainHeaders(headers: RobotsResponseHeaders): RobotsResponseHeaders {
  const { location } = headers;
  return location === undefined ? headers : { ...headers, location: urlWithoutUserinfo(location) };
}
