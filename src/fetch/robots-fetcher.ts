import type { LookupFunction } from 'node:net';
import type { Outcome } from '../lifecycle/outcome.ts';
import type { Profile } from '../lifecycle/profile.ts';
import { DEFAULT_DEADLINE_MS, DEFAULT_MAX_BODY_BYTES } from '../base/defaults.ts';
import type { AddressPolicy } from '../net/address-policy.ts';
import { Stop, type StopSignal } from '../base/stop-signal.ts';
import { Attempt } from './attempt.ts';
import { DEADLINE } from './codes.ts';
import type { Transport } from './transport.ts';

/** The part of a profile that concerns a single attempt. */
export type FetchProfile = Pick<
  Profile,
  | 'status'
  | 'maxRedirects'
  | 'tooManyRedirects'
  | 'disallowedRedirect'
  | 'challenge'
  | 'conditionalRequests'
  | 'retryAfter'
>;

/** What the holder of a copy knows to ask whether it changed. */
export interface Validators {
  /** The URL that issued them (`finalUrl` of the copy); they are sent to no other. */
  readonly url: string;
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface FetchRobotsOptions {
  /** `https://example.com`: scheme, host and port. */
  readonly origin: string;
  /** Value of the `User-Agent` field. */
  readonly agent: string;
  readonly profile: FetchProfile;
  readonly transport: Transport;
  /** Further request fields, for requests to `origin` alone. They replace the fields set here. */
  readonly headersForRobots?: Readonly<Record<string, string>>;
  readonly validators?: Validators;
  readonly deadlineMs?: number;
  readonly maxBodyBytes?: number;
  /** @default 'no-public-to-private' */
  readonly addressPolicy?: AddressPolicy;
  /** The caller's, for transports that look up names by request. */
  readonly lookup?: LookupFunction;
  /** Asked before a redirect is followed, when the profile has `disallowedRedirect: 'unavailable'`. */
  readonly isRedirectDisallowed?: (url: string) => boolean;
  /** Nobody waits for the outcome any more. */
  readonly signal?: StopSignal;
  /** Epoch ms, for a `Retry-After` that is a date. */
  readonly clock?: { now(): number };
}

/**
 * One attempt to fetch `<origin>/robots.txt`. Whatever happens on the network is an outcome; the promise rejects
 * only with the reason of an aborted `signal`, and never waits for a transport that does not heed its own.
 */
export function fetchRobots(options: FetchRobotsOptions): Promise<Outcome> {
  const { signal, deadlineMs = DEFAULT_DEADLINE_MS, maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const controller = new Stop();
    const attempt = new Attempt(options, controller, maxBodyBytes);
    const deadline = setTimeout(() => {
      settle();
      resolve(attempt.cutShort(DEADLINE));
      controller.abort();
    }, deadlineMs);
    const abandon = (): void => {
      settle();
      reject(signal?.reason);
      controller.abort();
    };
    const settle = (): void => {
      clearTimeout(deadline);
      signal?.removeEventListener('abort', abandon);
    };
    signal?.addEventListener('abort', abandon, { once: true });
    void attempt.run().then((outcome) => {
      settle();
      resolve(outcome);
    });
  });
}
