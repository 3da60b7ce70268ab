import { invokeListener, type Clock, omitUndefined, VERSION } from '../../base/index.ts';
import type { RecordObserver, ObservedAttempt } from '../../cache/index.ts';
import type { Decision, DecisionContext, OverriddenOrigin } from '../../decision/index.ts';
import {
  type AnswerHeaders,
  type OriginRecord,
  type Outcome,
  type Profile,
  profiles,
  type Redirect,
} from '../../lifecycle/index.ts';
import type { Agent } from '../../rules/agent-tokens.ts';
import { locate } from '../../url/index.ts';
import type { AttemptEntry, DecisionEntry, EvidenceEntry, EvidenceHop } from './entry.ts';

/** The client that evidence is of. */
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
}

/** Makes the entries of one client's evidence, and gives them to the function that the caller has set, in order. */
export class Recorder implements RecordObserver {
  readonly #listener: (entry: EvidenceEntry) => void;
  readonly #clock: Clock;
  #attempts = 0;
  #entries = 0;
  /** When a decision was made, and from which record. A guard tells of it when its request leaves. */
  readonly #made = new WeakMap<Decision, Made>();
  /** The numbers of the entries that brought the records. */
  readonly #brought = new WeakMap<OriginRecord, number>();

  constructor(listener: (entry: EvidenceEntry) => void, client: RecordedClient) {
    this.#listener = listener;
    this.#clock = client.clock;
    const at = client.clock.now();
    const own = Object.fromEntries(client.profiles);
    if (!isBuiltIn(client.profile)) own[client.profile.name] = client.profile;
    this.#write({
      type: 'run',
      at,
      id: crypto.randomUUID(),
      version: VERSION,
      profile: client.profile.name,
      ...(Object.keys(own).length === 0 ? {} : { profiles: own }),
      agent: client.agent,
    });
    for (const override of client.overrides.values()) this.#overridden(override, at);
  }

  attempted({ origin, outcome, previous, record, profile, at, isKept }: ObservedAttempt): void {
    const { headers, suspect } = outcome;
    const { answer, copy, failure } = record;
    const digest = outcome.kind === 'success' || outcome.kind === 'not-modified' ? copy?.sha256 : undefined;
    const before = previous && this.#brought.get(previous);
    const { kind } = outcome;
    const entry: AttemptEntry = omitUndefined({
      type: 'robots',
      at,
      origin,
      id: ++this.#attempts,
      outcome: kind,
      hops: hopsOf(outcome),
      status: outcome.status,
      error: kind === 'unreachable' ? outcome.error : undefined,
      because: kind === 'unavailable' ? outcome.reason : undefined,
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
      previous: before,
    });
    this.#write(entry, record);
  }

  takenOver(record: OriginRecord, profile: Profile, isKept: boolean): void {
    const { copy, answer, failure, ...rest } = record;
    const others = omitUndefined({
      ...rest,
      answer: answer && plainLast(answer),
      failure: failure && plainLast(failure),
    });
    const base = omitUndefined({
      type: 'stored',
      at: this.#clock.now(),
      origin: record.origin,
      profile: profile.name,
      detached: isTrue(!isKept),
    });
    if (copy === undefined) return this.#write({ ...base, record: others }, record);
    const { body, ...described } = copy;
    const bytes = omitUndefined({ sha256: copy.sha256, body });
    this.#write({ ...base, record: { ...others, copy: described }, ...bytes }, record);
  }

  signalled(record: OriginRecord, reachable: boolean, at: number): void {
    this.#write({ type: 'signal', at, origin: record.origin, reachable }, record);
  }

  pausedAnew(before: OriginRecord, after: OriginRecord): void {
    const number = this.#brought.get(before);
    if (number !== undefined) this.#brought.set(after, number);
  }

  forgotten(origin: string, because: 'invalidated' | 'evicted'): void {
    this.#write({ type: 'forgotten', at: this.#clock.now(), origin, because });
  }

  /** Notes when a decision is made from which record, in case somebody is told of it. */
  made(decision: Decision, at: number, record?: OriginRecord): void {
    this.#made.set(decision, { at, record });
  }

  /** Somebody is told of a decision. */
  decided(decision: Decision, context: DecisionContext = {}): void {
    const { url, origin, agent, profile, allowed, state, reason, rule, robots, because } = decision;
    const { usage = decision.usage } = context;
    const { at = this.#clock.now(), record } = this.#made.get(decision) ?? {};
    const by = record && this.#brought.get(record);
    const entry: DecisionEntry = {
      type: 'decision',
      at,
      origin,
      url: withoutUserinfo(url),
      agent,
      profile,
      allowed,
      state,
      reason,
      ...(rule === undefined ? {} : { rule }),
      ...(robots.sha256 === undefined ? {} : { sha256: robots.sha256 }),
      ...(context.requested === undefined || context.requested === url
        ? {}
        : { requested: withoutUserinfo(context.requested) }),
      ...(usage === undefined ? {} : { usage }),
      ...(because === undefined ? {} : { because }),
      ...(context.lookup === true ? { lookup: true } : {}),
      ...(by === undefined ? {} : { by }),
    };
    this.#write(entry);
  }

  /** A guard sends a request without a question. */
  ignored(url: string, because: string): void {
    const { origin } = locate(url);
    this.#write({ type: 'ignored', at: this.#clock.now(), origin, url: withoutUserinfo(url), because });
  }

  #overridden({ origin, state, robots, because, profile, file }: OverriddenOrigin, at: number): void {
    this.#write({
      type: 'robots',
      at,
      origin,
      override: state === 'rules' ? 'text' : state === 'allow-all' ? 'allow' : 'disallow',
      ...omitUndefined({ because, sha256: robots.sha256, body: file?.bytes }),
      profile,
    });
  }

  /** @param record The record that the entry brings. */
  #write(entry: EvidenceEntry, record?: OriginRecord): void {
    if (record !== undefined) this.#brought.set(record, this.#entries);
    this.#entries++;
    invokeListener('evidence', this.#listener, entry);
  }
}

function isTrue(fact: boolean): true | undefined {
  return fact || undefined;
}

function isBuiltIn(profile: Profile): boolean {
  return Object.values(profiles).includes(profile);
}

function hopsOf({ finalUrl, redirects = [], status }: Outcome): EvidenceHop[] {
  const last: EvidenceHop = status === undefined ? { url: finalUrl } : { url: finalUrl, status };
  return [...redirects.map(plainRedirect), { ...last, url: withoutUserinfo(last.url) }];
}

function plainRedirect({ url, status, location }: Redirect): Redirect {
  return { url: withoutUserinfo(url), status, location: withoutUserinfo(location) };
}

/** An answer, or a failure, without user names and passwords. */
function plainLast<
  Last extends { readonly redirects?: readonly Redirect[]; readonly headers?: AnswerHeaders },
>(last: Last): Last {
  const { redirects, headers } = last;
  return {
    ...last,
    ...omitUndefined({ redirects: redirects?.map(plainRedirect), headers: headers && plainHeaders(headers) }),
  };
}

function plainHeaders(headers: AnswerHeaders): AnswerHeaders {
  const { location } = headers;
  return location === undefined ? headers : { ...headers, location: withoutUserinfo(location) };
}

/** A user name and a password are nobody's business but the site's. `Location` fields are as the site wrote them. */
function withoutUserinfo(url: string): string {
  return url.replace(USERINFO, '$1');
}

const USERINFO = /^((?:[a-z][a-z\d+.-]*:)?[\\/]{2})[^\\/?#]*@/i;
