import {
  attemptDue,
  type AttemptDue,
  nextRecord,
  type OriginRecord,
  type Profile,
  stateOf,
  restartBackoff,
  withSiteSignal,
} from '../../src/core/lifecycle/index.ts';
import { parseRobots } from '../../src/core/rules/index.ts';
import type { Behaviour } from './behaviour.ts';

/** What every answer about one URL has to say. */
export interface Expected {
  readonly state: string;
  readonly reason: string;
  readonly allowed: boolean;
  readonly line: number | undefined;
  readonly retryAt: number | undefined;
}

export const AGENT = 'SoakBot';
/** Every draw of the client's. */
export const DRAWN = 0.5;

/** What a client should know, by the pure rules of `lifecycle/` and `rules/` alone: no socket, no promise, no cache. */
export class Model {
  readonly profile: Profile;
  private readonly records = new Map<string, OriginRecord>();

  constructor(profile: Profile) {
    this.profile = profile;
  }

  /** Whether a question starts an attempt. If the clock is set back to before a failure, its pause restarts. */
  due(origin: string, now: number): AttemptDue {
    const record = this.records.get(origin);
    if (record === undefined) return 'now';
    const paused = restartBackoff(record, this.profile, now);
    this.records.set(origin, paused);
    return attemptDue(paused, this.profile, now);
  }

  /** Whether the copy known of this origin makes the next attempt a conditional one. */
  sentEtag(origin: string): string | undefined {
    const copy = this.records.get(origin)?.copy;
    const isOwn = copy?.finalUrl === `${origin}/robots.txt`;
    return this.profile.conditionalRequests && isOwn ? copy.etag : undefined;
  }

  attempt(origin: string, behaviour: Behaviour, now: number): void {
    const previous = this.records.get(origin);
    const seen = behaviour.outcome(this.profile, this.sentEtag(origin));
    const isPage = seen.kind === 'success' && new TextDecoder().decode(seen.body).startsWith('<!doctype');
    const outcome = isPage ? { ...seen, suspect: 'html' as const } : seen;
    this.records.set(
      origin,
      nextRecord({ previous, origin, outcome, profile: this.profile, now, random: DRAWN }),
    );
  }

  /** A file that another origin was redirected to counts here too, unless something fresh is known. */
  share(origin: string, behaviour: Behaviour, now: number): void {
    const record = this.records.get(origin);
    const isFresh = record !== undefined && this.due(origin, now) !== 'now';
    if (!isFresh || record.failure !== undefined) this.attempt(origin, behaviour, now);
  }

  report(origin: string, reachable: boolean, now: number): void {
    const record = this.records.get(origin);
    if (record?.site?.reachable === reachable) return;
    this.records.set(origin, withSiteSignal(record, origin, reachable, now));
  }

  forget(origin: string): void {
    this.records.delete(origin);
  }

  expect(origin: string, path: string, now: number): Expected {
    const holds = stateOf(this.records.get(origin), this.profile, now);
    if (holds.state === 'rules' || holds.state === 'last-good') {
      const verdict = parseRobots(holds.copy.body, { dialect: this.profile.dialect }).check(path, AGENT);
      const line = 'rule' in verdict ? verdict.rule?.line : undefined;
      return {
        state: holds.state,
        reason: verdict.reason,
        allowed: verdict.allowed,
        line,
        retryAt: undefined,
      };
    }
    if (holds.state === 'unknown') throw new Error(`Expected something to be known of ${origin}`);
    const retryAt = 'retryAt' in holds ? holds.retryAt : undefined;
    const allowed = holds.state === 'allow-all';
    return { state: holds.state, reason: holds.reason, allowed, line: undefined, retryAt };
  }
}
