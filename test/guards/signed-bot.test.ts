import { beforeAll, describe, expect, it } from 'vitest';
import { guardFetch, refusalIn, RobotsClient } from '../../src/index.ts';
import { opened, openedSite } from '../support/opened.ts';
import { answer, type Site } from '../support/site.ts';
import {
  challenger,
  faultIn,
  keyDirectoryOf,
  signedBot,
  type SignedBot,
  testKey,
} from '../support/signed-bot.ts';

let recipe: SignedBot;
beforeAll(async () => {
  recipe = await signedBot();
});

const faults = ({ requests }: Site): (string | undefined)[] =>
  requests.map(({ headers }) => faultIn(headers, recipe.publicKey));

describe('the recipe for a signed bot', () => {
  it('signs robots.txt and every hop of a page, its redirects and those of robots.txt, for its own authority', async () => {
    const second = await openedSite(({ url }, response) =>
      answer(
        response,
        url === '/robots.txt' ? { body: 'User-agent: *\nDisallow: /private' } : { body: 'a page' },
      ),
    );
    const first = await openedSite(({ url }, response) => {
      const location = { '/robots.txt': '/rules', '/to': '/on', '/on': second.url('/page') }[url ?? ''];
      if (location !== undefined) answer(response, { status: 302, headers: { location } });
      else answer(response, { body: 'User-agent: *\nAllow: /' });
    });
    const robots = opened(
      new RobotsClient({ agent: 'ExampleBot/1.0', transport: { fetch: recipe.signingFetch } }),
    );
    const guarded = guardFetch(recipe.signingFetch, robots);
    expect(await (await guarded(first.url('/to'))).text()).toBe('a page');
    const refused = await guarded(second.url('/private')).catch((error: unknown) => error);
    expect(refusalIn(refused)?.code).toBe('ERR_ROBOTS_DISALLOWED');
    expect(first.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/rules', '/to', '/on']);
    expect(second.requests.map(({ url }) => url)).toEqual(['/robots.txt', '/page']);
    expect([...faults(first), ...faults(second)]).toEqual(Array(6).fill(undefined));
    const names = [...first.requests, ...second.requests].map(({ headers }) => headers['user-agent']);
    expect(new Set(names)).toEqual(new Set(['ExampleBot/1.0']));
  });

  it('signs each request anew: none verifies for another authority, key or time, or with another agent', async () => {
    const server = await openedSite((_, response) => answer(response, { body: 'a page' }));
    const { publicKey, signingFetch } = recipe;
    await signingFetch(new Request(server.url('/'), { headers: { accept: 'text/html' } }));
    await signingFetch(server.url('/'));
    const [one, two] = server.requests.map(({ headers }) => headers);
    expect(one).toMatchObject({ accept: 'text/html' });
    expect(one?.['signature']).not.toBe(two?.['signature']);
    const headers = { ...one };
    expect(faultIn(headers, publicKey)).toBeUndefined();
    expect(faultIn({ ...headers, host: 'other.example' }, publicKey)).toBe('signature');
    const otherAgent = { ...headers, 'signature-agent': 'sig1="https://evil.example"' };
    expect(faultIn(otherAgent, publicKey)).toBe('signature');
    expect(faultIn({ ...headers, signature: String(two?.['signature']) }, publicKey)).toBe('signature');
    expect(faultIn(headers, publicKey, { now: Date.now() / 1000 + 120 })).toBe('time');
    expect(faultIn(headers, testKey)).toBe('keyid');
  });

  it.each([
    ['-01', '-00'],
    ['-00', '-01'],
  ] as const)('names its keys to verifiers of %s, and not to those of %s', async (draft, other) => {
    const { publicKey, signingFetch } = await signedBot(draft);
    const server = await openedSite((_, response) => answer(response, { body: 'a page' }));
    await signingFetch(server.url('/'));
    const { headers } = server.requests[0]!;
    expect(faultIn(headers, publicKey)).toBeUndefined();
    expect(headers['signature-input']).toContain('"signature-agent";key="sig1"');
    const directory = 'https://bot.example.com/.well-known/http-message-signatures-directory';
    expect([keyDirectoryOf(headers, draft), keyDirectoryOf(headers, other)]).toEqual([directory, undefined]);
  });

  it.each([403, 429] as const)(
    'signs anew as a challenge of a %i asks: its label, its components, and its nonce, once',
    async (status) => {
      const { publicKey, signingFetch } = recipe;
      const server = await openedSite(challenger(publicKey, status));
      const robots = opened(
        new RobotsClient({ agent: 'ExampleBot/1.0', transport: { fetch: signingFetch } }),
      );
      const guarded = guardFetch(signingFetch, robots);
      const refused = await guarded(server.url('/page?a=b'));
      expect(refused.status).toBe(status);
      const challenge = refused.headers.get('accept-signature') ?? '';
      const again = await guarded(refused.url, { headers: { 'accept-signature': challenge } });
      expect([again.status, await again.text()]).toEqual([200, 'a page']);
      expect((await guarded(refused.url, { headers: { 'accept-signature': challenge } })).status).toBe(
        status,
      );
      expect(server.requests.map(({ headers }) => headers['accept-signature'])).toEqual(
        Array(server.requests.length).fill(undefined),
      );
    },
  );
});

/** The second test vector of draft-meunier-web-bot-auth-architecture-05, signed by Ed25519. */
it("the verifier of these tests takes the draft's signature, and no changed one", () => {
  const now = 1735689600;
  const headers = {
    host: 'example.com',
    'signature-agent': 'agent2="https://signature-agent.test"',
    'signature-input':
      `sig2=("@authority" "signature-agent";key="agent2");created=${now};` +
      'keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600;' +
      'nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA==";' +
      'tag="web-bot-auth"',
    signature:
      'sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:',
  };
  expect(faultIn(headers, testKey, { now })).toBeUndefined();
  expect(faultIn({ ...headers, host: 'example.org' }, testKey, { now })).toBe('signature');
  expect(faultIn(headers, testKey, { now: now - 1 })).toBe('time');
  const noTag = { ...headers, 'signature-input': headers['signature-input'].replace('web-bot-auth', 'x') };
  expect(faultIn(noTag, testKey, { now })).toBe('tag');
});
