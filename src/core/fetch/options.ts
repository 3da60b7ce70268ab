import type { LookupFunction } from 'node:net';
import type { LightAbortSignal } from '../base/index.ts';
import type { Copy, Profile } from '../lifecycle/index.ts';
import type { AddressPolicy } from '../net/address-policy.ts';
import type { Transport } from './transport.ts';

export interface FetchRobotsOptions {
  /** Scheme, host and port: `https://example.com`. */
  readonly origin: string;
  /** Value of the `User-Agent` field. */
  readonly userAgent: string;
  readonly profile: Profile;
  readonly transport: Transport;
  /** Further request fields for an origin, redirects included. They replace the fields set here. */
  readonly headersFor?: (origin: string) => Readonly<Record<string, string>> | undefined;
  /** What an earlier attempt found. Its validators are sent to its `finalUrl` only. */
  readonly copy?: Pick<Copy, 'finalUrl' | 'etag' | 'lastModified'> | undefined;
  readonly deadlineMs: number;
  readonly maxBodyBytes: number;
  readonly addressPolicy: AddressPolicy;
  /** The caller's lookup, for transports that take one per request. */
  readonly lookup?: LookupFunction | undefined;
  /** Called before a redirect is followed, if the profile has `disallowedRedirect: 'unavailable'`. */
  readonly isRedirectDisallowed: (url: string) => boolean;
  /** Aborts when no caller waits for the outcome any more. */
  readonly signal: LightAbortSignal;
  /** The client, for messages about its requests. */
  readonly client: object;
  /** Epoch ms, needed for a `Retry-After` with a date. */
  readonly clock: { now(): number };
}
