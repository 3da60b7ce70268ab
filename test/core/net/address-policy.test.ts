import type { LookupFunction } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/lifecycle/outcome.ts';
import type { AddressPolicy } from '../../../src/core/net/address-policy.ts';
import { fetchTransport } from '../../../src/core/fetch/fetch-transport.ts';
import type { Transport } from '../../../src/core/fetch/transport.ts';
import { undiciTransport } from '../../../src/core/fetch/undici-transport.ts';
import { internet, lookupIn, PUBLIC, type Row } from '../../support/internet.ts';
import { Moment } from '../../support/moment.ts';
import type { Site } from '../../support/site.ts';
import { context, RULES } from '../fetch/context.ts';

const { site, fetch } = context(fetchTransport(globalThis.fetch));

const REFUSED = { kind: 'unreachable', error: 'ERR_ROBOTS_ADDRESS_REFUSED' };
const PRIVATE = '10.0.0.1';

/** The table of names that most tests here go by. */
const NAMES: Readonly<Record<string, Row>> = {
  'public.example': [PUBLIC],
  'intranet.example': [PRIVATE],
  'intranet2.example': ['192.168.0.2'],
  'ula.example': ['fd00::1'],
  'metadata.example': ['169.254.169.254'],
};

const open: Transport[] = [];

afterEach(async () => {
  for (const transport of open.splice(0)) await transport.close?.();
});

/** A transport on the Internet of the tests, and a way to ask through it. */
function on(lookup: LookupFunction = lookupIn(NAMES)): {
  readonly dialled: readonly string[];
  ask(origin: string, addressPolicy?: AddressPolicy): Promise<Outcome>;
} {
  const { buildConnector, dialled } = internet();
  const transport = undiciTransport({ lookup, buildConnector });
  open.push(transport);
  return {
    dialled,
    ask: (origin, addressPolicy) =>
      fetch(origin, { transport, ...(addressPolicy === undefined ? {} : { addressPolicy }) }),
  };
}

/** The origin of `site` under another host. */
const as = (host: string, { origin }: Site): string => origin.replace('127.0.0.1', host);

/** A site that redirects robots.txt to where it is told, whatever its name. */
async function redirecting(to: () => string): Promise<Site> {
  return site((_request, response) => response.writeHead(302, { location: to() }).end());
}

async function rules(): Promise<Site> {
  return site({ '/robots.txt': { body: RULES } });
}

describe("a public site's redirect", () => {
  // All spellings are in ./addresses.test.ts.
  it.each([...'127.0.0.1 0x7f.1 [::1] [64:ff9b::127.0.0.1] a.b.LOCALHOST 169.254.169.254'.split(' ')])(
    'to %s is refused by its URL, without a lookup',
    async (host) => {
      const inside = await rules();
      const outside = await redirecting(() => `${as(host, inside)}/robots.txt`);
      const lookup = lookupIn(NAMES);
      const { ask, dialled } = on(lookup);
      expect(await ask(as('public.example', outside))).toMatchObject({ ...REFUSED, hops: 1 });
      expect(dialled).toEqual([PUBLIC]);
      expect(lookup.asked).toEqual(['public.example']);
      expect(inside.connections()).toBe(0);
    },
  );
});

describe('a private site', () => {
  it('may redirect to a literal private address, with the connector of undici', async () => {
    const last = await rules();
    const first = await redirecting(() => `${last.origin}/robots.txt`);
    const transport = undiciTransport({ lookup: lookupIn({ 'here.example': ['127.0.0.1'] }) });
    open.push(transport);
    expect(await fetch(as('here.example', first), { transport })).toMatchObject({ kind: 'success', hops: 1 });
    expect(await fetch(first.origin, { transport })).toMatchObject({ kind: 'success', hops: 1 });
    expect(last.requests.length).toBe(2);
  });
});

describe('between the check and the connection', () => {
  it('a socket kept alive from a first hop to a private site does not serve a redirect from a public one', async () => {
    const inside = await rules();
    const outside = await redirecting(() => `${as('intranet.example', inside)}/robots.txt`);
    const { ask, dialled } = on();
    expect(await ask(as('intranet.example', inside))).toMatchObject({ kind: 'success' });
    expect(await ask(as('intranet.example', inside))).toMatchObject({ kind: 'success' });
    expect(await ask(as('public.example', outside))).toMatchObject(REFUSED);
    expect(inside.requests.length).toBe(2);
    expect(dialled.at(-1)).toBe(PUBLIC);
  });

  it('a socket that is still opening, or one of many, does not serve it either', async () => {
    const told = new Moment();
    const inside = await site((_request, response) => void told.come.then(() => response.end(RULES)));
    const outside = await redirecting(() => `${as('intranet.example', inside)}/robots.txt`);
    const { ask, dialled } = on();
    const first = [1, 2, 3].map(() => ask(as('intranet.example', inside)));
    expect(await ask(as('public.example', outside))).toMatchObject(REFUSED);
    told.now();
    expect((await Promise.all(first)).map(({ kind }) => kind)).toEqual(['success', 'success', 'success']);
    expect(dialled.filter((address) => address === PRIVATE).length).toBe(3);
    expect(inside.requests.length).toBe(3);
  });

  it('an origin with sockets to both kinds of address counts as public', async () => {
    const inside = await rules();
    const told = new Moment();
    const both = await site((_request, response) => {
      void told.come.then(() => response.writeHead(302, { location: `${inside.origin}/robots.txt` }).end());
      if (both.requests.length === 2) told.now();
    });
    const lookup = lookupIn({ 'both.example': (before) => (before === 0 ? [PUBLIC] : [PRIVATE]) });
    const { ask, dialled } = on(lookup);
    const outcomes = await Promise.all([ask(as('both.example', both)), ask(as('both.example', both))]);
    expect(outcomes).toEqual([expect.objectContaining(REFUSED), expect.objectContaining(REFUSED)]);
    expect(dialled).toEqual([PUBLIC, PRIVATE]);
    expect(inside.connections()).toBe(0);
  });
});
