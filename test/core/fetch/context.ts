import { fetchTransport } from '../../../src/core/fetch/fetch-transport.ts';
import { fetchRobots } from '../../../src/core/fetch/fetch-robots.ts';
import type { FetchRobotsOptions, Transport } from '../../../src/core/fetch/transport.ts';
import { undiciTransport } from '../../../src/core/fetch/undici-transport.ts';
import type { Outcome } from '../../../src/core/lifecycle/outcome.ts';
import { type Profile, profiles } from '../../../src/core/lifecycle/profile.ts';
import { opened, openedSite } from '../../support/opened.ts';
import { type Handler, type Script, type Site, startRawSite } from '../../support/site.ts';
import axios from 'axios';
import got from 'got';
import { axiosTransport } from '../../../src/guards/axios/axios.ts';
import { gotTransport } from '../../../src/guards/got/got.ts';
import { afterAll } from 'vitest';
import {
  DEFAULT_DEADLINE_MS,
  DEFAULT_MAX_BODY_BYTES,
  LightAbortController,
  systemClock,
} from '../../../src/core/base/index.ts';
import { DEFAULT_ADDRESS_POLICY } from '../../../src/core/net/address-policy.ts';

export const AGENT = 'ExampleBot/1.0 (+https://example.com/bot)';

/** The network half of the RFC's profile, spelt out so that these tests stand by themselves. */
export const PROFILE: Profile = {
  ...profiles.rfc9309,
  status: { '2xx': 'rules', '4xx': 'unavailable', '429': 'unreachable' },
  maxRedirects: 5,
  tooManyRedirects: 'unavailable',
  disallowedRedirect: 'followed',
  challenge: 'as-status',
  conditionalRequests: true,
  retryAfter: { minMs: 1_000, maxMs: 86_400_000 },
};

/** What a client with the defaults gives to each of its attempts. */
export const ATTEMPT = {
  deadlineMs: DEFAULT_DEADLINE_MS,
  maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
  addressPolicy: DEFAULT_ADDRESS_POLICY,
  isRedirectDisallowed: (): boolean => false,
  signal: new LightAbortController(),
  clock: systemClock,
  client: {},
};

export interface Context {
  site(plan: Handler | Script): Promise<Site>;
  rawSite(handler: Parameters<typeof startRawSite>[0]): Promise<Site>;
  fetch(origin: string, options?: Partial<FetchRobotsOptions>): Promise<Outcome>;
  transport: Transport;
}

/** Sites closed after each test, over a transport closed after all. */
export function context(transport: Transport): Context {
  afterAll(() => transport.close?.());
  return {
    site: openedSite,
    rawSite: async (handler) => opened(await startRawSite(handler)),
    fetch: (origin, options) =>
      fetchRobots({ ...ATTEMPT, origin, userAgent: AGENT, profile: PROFILE, transport, ...options }),
    transport,
  };
}

type NamedTransport = readonly [name: string, make: () => Transport];

/** They give coded bodies as they were sent. */
export const UNDECODED: readonly NamedTransport[] = [
  ['undici', () => undiciTransport()],
  ['got', () => gotTransport(got)],
  ['axios', () => axiosTransport(axios)],
];

/** They undo content codings by themselves. */
export const DECODED: readonly NamedTransport[] = [
  ['fetch', () => fetchTransport(fetch)],
  ['axios by fetch', () => axiosTransport(axios.create({ adapter: 'fetch' }))],
];

/** Suites of what transports do run over each of these. */
export const TRANSPORTS: readonly NamedTransport[] = [...UNDECODED, ...DECODED];

export const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

export const bodyOf = (outcome: Outcome): string =>
  outcome.kind === 'success' ? text(outcome.body) : `(${outcome.kind})`;

/** The default limit of a body. */
export const LIMIT: number = DEFAULT_MAX_BODY_BYTES;

export const RULES = 'User-agent: *\nDisallow: /x\n';

/** Whole lines, `bytes` long without the terminator of the last. */
export function lines(bytes: number): string {
  return `${'Disallow: /aaaaaaaa\n'.repeat(Math.ceil(bytes / 20))}`.slice(0, bytes - 1) + 'z';
}
