import type { LookupFunction } from 'node:net';
import type { LightAbortSignal } from '../base/index.ts';
import type { Profile } from '../lifecycle/index.ts';
import type { AddressPolicy } from '../net/address-policy.ts';
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

/** The validators of a copy, to revalidate it. */
export interface Validators {
  /** The URL that issued the validators (`finalUrl` of the copy). They are sent to no other URL. */
  readonly url: string;
  readonly etag?: string;
  readonly lastModified?: string;
}

export interface FetchRobotsOptions {
  /** Scheme, host and port: `https://example.com`. */
  readonly origin: string;
  /** Value of the `User-Agent` field. */
  readonly agent: string;
  readonly profile: FetchProfile;
  readonly transport: Transport;
  /** Further request fields, sent to `origin` only. They replace the fields set here. */
  readonly headersForRobots?: Readonly<Record<string, string>>;
  readonly validators?: Validators;
  readonly deadlineMs?: number;
  readonly maxBodyBytes?: number;
  /** @default 'no-public-to-private' */
  readonly addressPolicy?: AddressPolicy;
  /** The caller's lookup, for transports that take one per request. */
  readonly lookup?: LookupFunction;
  /** Called before a redirect is followed, if the profile has `disallowedRedirect: 'unavailable'`. */
  readonly isRedirectDisallowed?: (url: string) => boolean;
  /** Aborts when no caller waits for the outcome any more. */
  readonly signal?: LightAbortSignal;
  /** Epoch ms, needed for a `Retry-After` with a date. */
  readonly clock?: { now(): number };
}
