import { attemptDue, nextRecord, profiles, stateOf } from '../../../src/core/lifecycle/index.ts';
import type {
  RobotsResponseHeaders,
  AttemptDue,
  OriginRecord,
  Outcome,
  Profile,
  KnownState,
} from '../../../src/core/lifecycle/index.ts';

export { DAY, HOUR, MINUTE, SECOND } from '../../support/client.ts';

/** A moment like any other: 1 June 2026, noon. */
export const START: number = Date.UTC(2026, 5, 1, 12);

const ORIGIN = 'https://example.com';
const ROUTE = { finalUrl: `${ORIGIN}/robots.txt`, hops: 0 };

const encoder = new TextEncoder();

export const outcomes = {
  success: (headers: RobotsResponseHeaders = {}, text = 'User-agent: *\nDisallow: /private\n'): Outcome => ({
    kind: 'success',
    status: 200,
    headers,
    body: encoder.encode(text),
    truncated: false,
    ...ROUTE,
  }),
  notModified: (headers: RobotsResponseHeaders = {}): Outcome => ({
    kind: 'not-modified',
    status: 304,
    headers,
    ...ROUTE,
  }),
  unavailable: (headers: RobotsResponseHeaders = {}, status = 404): Outcome => ({
    kind: 'unavailable',
    status,
    headers,
    ...ROUTE,
  }),
  restricted: (headers: RobotsResponseHeaders = {}): Outcome => ({
    kind: 'restricted',
    status: 403,
    headers,
    ...ROUTE,
  }),
  unreachable: (retryAfterMs?: number): Outcome => ({
    kind: 'unreachable',
    status: 503,
    error: 'ERR_ROBOTS_STATUS',
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...ROUTE,
  }),
};

/** One origin under one profile, with a clock that is set by hand. */
export class Story {
  record: OriginRecord | undefined;
  now: number = START;
  random = 0;
  readonly profile: Profile;

  constructor(profile: Profile = profiles.rfc9309) {
    this.profile = profile;
  }

  /** An attempt ends. */
  meets(outcome: Outcome): OriginRecord {
    const { record: previous, profile, now, random } = this;
    this.record = nextRecord({ previous, origin: ORIGIN, outcome, profile, now, random });
    return this.record;
  }

  later(ms: number): this {
    this.now += ms;
    return this;
  }

  get stateOf(): KnownState {
    return stateOf(this.record, this.profile, this.now);
  }

  /** The stateOf without its particulars. */
  get stands(): string {
    const stateOf = this.stateOf;
    return 'reason' in stateOf ? `${stateOf.state}, ${stateOf.reason}` : stateOf.state;
  }

  get due(): AttemptDue {
    return attemptDue(this.record, this.profile, this.now);
  }
}
