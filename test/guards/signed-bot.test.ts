import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { guardFetch, refusalIn, RobotsClient } from '../../src/index.ts';
import { afterEachTest } from '../support/after-each-test.ts';
import { answer, type Handler, type Site, startSite } from '../support/site.ts';

/** The signing `fetch` of the guide, as it stands there. */
const guide = readFileSync(new URL('../../src/guards/README.md', import.meta.url), 'utf8');
const recipe = /### A signed bot\n.*?```ts\n(.*?)\nconst robots = /s.exec(guide)?.[1] ?? '';
const folder = new URL('../../build/signed-bot/', import.meta.url);

let signingFetch: typeof fetch;
let publicKey: KeyObject;

beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  const file = new URL(`signing-fetch-${process.pid}.ts`, folder);
  writeFileSync(
    file,
    `${recipe.replace(/^import .* from 'canfetch';\n/m, '')}\nexport { publicKey, signingFetch };\n`,
  );
  ({ signingFetch, publicKey } = await import(fileURLToPath(file)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const open: (() => Promise<unknown>)[] = [];
afterEachTest(async () => {
  for (const close of open.splice(0)) await close();
});

async function site(handler: Handler): Promise<Site> {
  const started = await startSite(handler);
  open.push(() => started.close());
  return started;
}

/** `name=value` members of a dictionary with one member (RFC 9651 §3.2); the signed fields here have one. */
function member(field: string | string[] | undefined, label: string): string {
  const text = String(field);
  expect(text.startsWith(`${label}=`)).toBe(true);
  return text.slice(label.length + 1);
}

/**
 * Verifies a request by RFC 9421 §3.2, with the additions of Web Bot Auth, by code of its own: the covered components
 * are read from `Signature-Input`, their values from the request as the server got it.
 *
 * @returns what is wrong; `undefined` when nothing is.
 */
function faultIn(headers: IncomingHttpHeaders, key: KeyObject, now: number): string | undefined {
  const input = String(headers['signature-input']);
  const label = /^([a-z*][a-z0-9_.*-]*)=/.exec(input)?.[1];
  if (label === undefined) return 'no signature';
  const parameters = member(input, label);
  const [, list = '', rest = ''] = /^\(([^)]*)\)(.*)$/.exec(parameters) ?? [];
  const parameter = (name: string): string | undefined =>
    new RegExp(`;${name}=(?:"([^"]*)"|(\\d+))`)
      .exec(rest)
      ?.slice(1)
      .find((each) => each !== undefined);
  if (parameter('tag') !== 'web-bot-auth') return 'tag';
  if (parameter('alg') !== 'ed25519') return 'alg';
  if (!(Number(parameter('created')) <= now && now < Number(parameter('expires')))) return 'time';
  if (Buffer.from(parameter('nonce') ?? '', 'base64').length !== 48) return 'nonce';
  const { crv, kty, x } = key.export({ format: 'jwk' });
  const thumbprint = createHash('sha256').update(`{"crv":"${crv}","kty":"${kty}","x":"${x}"}`);
  if (parameter('keyid') !== thumbprint.digest('base64url')) return 'keyid';
  const identifiers: readonly string[] = list.match(/"[^"]*"(?:;key="[^"]*")?/g) ?? [];
  if (!identifiers.includes('"@authority"')) return '@authority is not covered';
  if (!identifiers.includes(`"signature-agent";key="${label}"`)) return 'signature-agent is not covered';
  const values: Readonly<Record<string, string | undefined>> = {
    // §2.2.3: the host in lower case, without the default port of the scheme.
    '"@authority"': headers.host?.toLowerCase().replace(/:80$/, ''),
    [`"signature-agent";key="${label}"`]: member(headers['signature-agent'], label),
  };
  const base = [
    ...identifiers.map((identifier) => `${identifier}: ${values[identifier]}`),
    `"@signature-params": ${parameters}`,
  ].join('\n');
  const bytes = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(member(headers['signature'], label))?.[1] ?? '';
  return verify(null, Buffer.from(base), key, Buffer.from(bytes, 'base64')) ? undefined : 'signature';
}

const faults = ({ requests }: Site): (string | undefined)[] =>
  requests.map(({ headers }) => faultIn(headers, publicKey, Math.floor(Date.now() / 1000)));

describe('the recipe for a signed bot', () => {
  it('signs robots.txt and every hop of a page, its redirects and those of robots.txt, for its own authority', async () => {
    const second = await site(({ url }, response) =>
      answer(
        response,
        url === '/robots.txt' ? { body: 'User-agent: *\nDisallow: /private' } : { body: 'a page' },
      ),
    );
    const first = await site(({ url }, response) => {
      const location = { '/robots.txt': '/rules', '/to': '/on', '/on': second.url('/page') }[url ?? ''];
      if (location !== undefined) answer(response, { status: 302, headers: { location } });
      else answer(response, { body: 'User-agent: *\nAllow: /' });
    });
    const robots = new RobotsClient({ agent: 'ExampleBot/1.0', transport: { fetch: signingFetch } });
    open.push(() => robots.close());
    const guarded = guardFetch(signingFetch, robots);
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
    const server = await site((_, response) => answer(response, { body: 'a page' }));
    await signingFetch(new Request(server.url('/'), { headers: { accept: 'text/html' } }));
    await signingFetch(server.url('/'));
    const [one, two] = server.requests.map(({ headers }) => headers);
    expect(one).toMatchObject({ accept: 'text/html', 'signature-agent': 'sig1="https://bot.example.com"' });
    expect(one?.['signature']).not.toBe(two?.['signature']);
    const now = Math.floor(Date.now() / 1000);
    const headers = { ...one };
    expect(faultIn(headers, publicKey, now)).toBeUndefined();
    expect(faultIn({ ...headers, host: 'other.example' }, publicKey, now)).toBe('signature');
    expect(faultIn({ ...headers, 'signature-agent': 'sig1="https://evil.example"' }, publicKey, now)).toBe(
      'signature',
    );
    expect(faultIn({ ...headers, signature: String(two?.['signature']) }, publicKey, now)).toBe('signature');
    expect(faultIn(headers, publicKey, now + 120)).toBe('time');
    // The key of RFC 9421, appendix B.1.4.
    const other = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
      format: 'jwk',
    });
    expect(faultIn(headers, other, now)).toBe('keyid');
  });

  it('the verifier takes the example of RFC 9421, appendix B.2.6, for one that was signed by that key', () => {
    const key = createPublicKey({
      key: { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
      format: 'jwk',
    });
    const base = [
      '"date": Tue, 20 Apr 2021 02:07:55 GMT',
      '"@method": POST',
      '"@path": /foo',
      '"@authority": example.com',
      '"content-type": application/json',
      '"content-length": 18',
      '"@signature-params": ("date" "@method" "@path" "@authority" "content-type" "content-length");created=1618884473;keyid="test-key-ed25519"',
    ].join('\n');
    const signature =
      'wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==';
    expect(verify(null, Buffer.from(base), key, Buffer.from(signature, 'base64'))).toBe(true);
  });
});
