import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Agent } from 'undici';
import type { RobotsClientOptions } from '../../../src/index.ts';
import { robotsInterceptor } from '../../../src/guards/undici/undici.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { testClient, type TestClient } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import {
  CANCEL,
  h2,
  type Http2Play,
  type Http2Site,
  INTERNAL_ERROR,
  NO_ERROR,
  startHttp2Site,
} from '../../support/http2-site.ts';
import { lookupIn } from '../../support/internet.ts';
import { startProxy } from '../../support/proxy.ts';

const RULES = 'User-agent: *\nDisallow: /x\n';
/** No second address, which a busy machine would take too long to try. */
const lookup = lookupIn({ localhost: ['127.0.0.1'] });
const identity = makeAuthority().issue({ host: 'localhost' });
const DEADLINE = 'ERR_ROBOTS_DEADLINE';
const RESET = 'ERR_HTTP2_STREAM_ERROR';

/** What is decided of `/x/page`. */
interface Expected {
  readonly state: 'rules' | 'allow-all' | 'disallow-all';
  readonly allowed: boolean;
  readonly status?: number;
  readonly error?: string | RegExp;
}

const broken = (error: string | RegExp, status?: number): Expected => ({
  state: 'disallow-all',
  allowed: false,
  error,
  ...(status === undefined ? {} : { status }),
});
const rules: Expected = { state: 'rules', allowed: false, status: 200 };
const empty: Expected = { state: 'rules', allowed: true, status: 200 };

const whole = [h2.headers(200), h2.data(RULES, true)];
const half = RULES.slice(0, 14);
const bomb = gzipSync(Buffer.concat([Buffer.from(RULES), Buffer.alloc(64 << 20, '#\n')]), { level: 1 });
const frames = (bytes: Uint8Array): Buffer[] =>
  Array.from({ length: Math.ceil(bytes.length / 16_384) }, (_, at) =>
    h2.data(bytes.subarray(at * 16_384, (at + 1) * 16_384)),
  );

/** Lines of 16,011 bytes as HTTP/1.1 writes them, and how long a last one may be. */
const long: readonly string[] = Array.from({ length: 4 }, () => 'a'.repeat(16_000));
const FITTING = 65_536 - ':status: 200\r\n'.length - 4 * 16_011 - 'x-last: \r\n'.length;

const gzip = gzipSync(RULES);
const range = `bytes 0-${RULES.length - 1}/${RULES.length}`;
/** Of HTTP/1.1 that the parser does not take; below Node it vanishes. */
const vanishing = '\u0001';

const FAULTS: readonly (readonly [name: string, play: Http2Play, expected: Expected])[] = [
  ['nothing', whole, rules],
  ['all in one packet', [Buffer.concat(whole)], rules],
  ['a reset after the end', [Buffer.concat([...whole, h2.reset(NO_ERROR)])], rules],
  [
    'a body in many frames',
    [h2.headers(200), ...[...RULES].map((each) => h2.data(each)), h2.data('', true)],
    rules,
  ],
  ['an empty file', [h2.headers(200, {}, true)], empty],
  ['trailers', [h2.headers(200), h2.data(RULES), 20, h2.trailers({ 'x-sum': '1' })], rules],
  ['an unsolicited 100', [h2.headers(100), ...whole], rules],
  ['interim responses', [h2.headers(103, { link: '</a>' }), h2.headers(103), ...whole], rules],
  [
    'a graceful GOAWAY within the body',
    [h2.headers(200), h2.data(half), h2.goAway(1, NO_ERROR), 20, h2.data(RULES.slice(14), true)],
    rules,
  ],
  ['404', [h2.headers(404), h2.data('none', true)], { state: 'allow-all', allowed: true, status: 404 }],
  ['503', [h2.headers(503, { 'retry-after': '60' }), h2.data('', true)], broken('ERR_ROBOTS_STATUS', 503)],

  ['reset (CANCEL) before the headers', [h2.reset(CANCEL)], broken(RESET)],
  ['reset (NO_ERROR) before the headers', [h2.reset(NO_ERROR)], broken(RESET)],
  ['reset (CANCEL) after the headers', [h2.headers(200), 20, h2.reset(CANCEL)], broken(RESET, 200)],
  ['reset (CANCEL) mid-body', [h2.headers(200), h2.data(half), 20, h2.reset(CANCEL)], broken(RESET, 200)],
  [
    'reset (CANCEL) mid-body, in one packet',
    [Buffer.concat([h2.headers(200), h2.data(half), h2.reset(CANCEL)])],
    broken(RESET, 200),
  ],
  ['reset (NO_ERROR) mid-body', [h2.headers(200), h2.data(half), 20, h2.reset(NO_ERROR)], broken(RESET, 200)],
  [
    'reset (NO_ERROR) mid-body, in one packet',
    [Buffer.concat([h2.headers(200), h2.data(half), h2.reset(NO_ERROR)])],
    broken(RESET, 200),
  ],
  [
    'reset (INTERNAL_ERROR) mid-body',
    [h2.headers(200), h2.data(half), 20, h2.reset(INTERNAL_ERROR)],
    broken(RESET, 200),
  ],
  ['closed before the headers', ['end'], broken(/./)],
  ['closed mid-body', [h2.headers(200), h2.data(half), 20, 'end'], broken(/./, 200)],
  ['torn down mid-body', [h2.headers(200), h2.data(half), 20, 'reset'], broken(/./, 200)],
  ['GOAWAY before the headers', [h2.goAway(0, NO_ERROR)], broken(/./)],
  [
    'GOAWAY with an error mid-body',
    [h2.headers(200), h2.data(half), h2.goAway(1, INTERNAL_ERROR), 'end'],
    broken(/./, 200),
  ],
  [
    'GOAWAY, and the end mid-body',
    [h2.headers(200), h2.data(half), h2.goAway(1, NO_ERROR), 'end'],
    broken(/./, 200),
  ],
  [
    'Content-Length too long',
    [h2.headers(200, { 'content-length': '99' }), 20, h2.data(RULES, true)],
    broken(/./, 200),
  ],
  [
    'Content-Length too short',
    [h2.headers(200, { 'content-length': '3' }), 20, h2.data(RULES, true)],
    broken(/./, 200),
  ],
  [
    'a body cut under its Content-Length',
    [h2.headers(200, { 'content-length': '26' }), h2.data(half), 20, h2.reset(NO_ERROR)],
    broken(RESET, 200),
  ],
  [
    'interim responses without end',
    [...Array.from({ length: 100 }, () => h2.headers(103)), ...whole],
    broken('ERR_ROBOTS_MALFORMED'),
  ],
  ['a field of 16,000 bytes', [h2.headers(200, { 'x-a': 'a'.repeat(16_000) }), h2.data(RULES, true)], rules],
  [
    'a field that is none',
    [h2.headers(200, { 'transfer-encoding': 'chunked' }), h2.data(RULES, true)],
    broken(/./),
  ],
  [
    '3,000 fields',
    [h2.headers(200, { 'x-a': Array.from({ length: 3_000 }, (_, at) => String(at)) }), h2.data(RULES, true)],
    rules,
  ],
  [
    'a header section of 65,536 bytes',
    [h2.headers(200, { 'x-long0': long, 'x-last': 'a'.repeat(FITTING) }), h2.data(RULES, true)],
    rules,
  ],
  [
    'a header section of 65,537 bytes',
    [h2.headers(200, { 'x-long0': long, 'x-last': 'a'.repeat(FITTING + 1) }), h2.data(RULES, true)],
    broken('UND_ERR_HEADERS_OVERFLOW'),
  ],
  [
    'a long header section by short references',
    [h2.headersByReference(200, 'x-long', 'a'.repeat(4_000), 100), h2.data(RULES, true)],
    broken('UND_ERR_HEADERS_OVERFLOW'),
  ],
  [
    'a long interim header section',
    [h2.headers(103, { 'x-long0': long, 'x-last': long }), ...whole],
    broken('UND_ERR_HEADERS_OVERFLOW'),
  ],
  [
    'frames that are none',
    [Buffer.from('HTTP/1.1 200 OK\r\n\r\n')],
    broken(/^ERR_(?:ROBOTS_DEADLINE|HTTP2_ERROR)$/),
  ],
  [
    'a coded body, cut',
    [h2.headers(200, { 'content-encoding': 'gzip' }), h2.data(gzipSync(RULES).subarray(0, -6), true)],
    broken('ERR_ROBOTS_CONTENT_CODING', 200),
  ],
  ...[
    ['identity', 'gzip'],
    ['gzip', 'identity'],
    ['', 'gzip'],
  ].map((fields): (typeof FAULTS)[number] => [
    `gzip in the lines ${JSON.stringify(fields)}`,
    [h2.headers(200, { 'content-encoding': fields }), h2.data(gzip, true)],
    rules,
  ]),
  ...[' gzip', 'gzip\t'].map((field): (typeof FAULTS)[number] => [
    `gzip in ${JSON.stringify(field)}`,
    [h2.headers(200, { 'content-encoding': field }), h2.data(gzip, true)],
    // Below Node 22 such a field vanishes.
    Number.parseInt(process.versions.node) < 22 ? broken('ERR_ROBOTS_NOT_TEXT', 200) : rules,
  ]),
  [
    'an unknown coding in a second line',
    [h2.headers(200, { 'content-encoding': ['identity', 'rot13'] }), h2.data(RULES, true)],
    broken('ERR_ROBOTS_CONTENT_CODING', 200),
  ],
  [
    'gzip whose field vanishes',
    [h2.headers(200, { 'content-encoding': `gzip${vanishing}` }), h2.data(gzip, true)],
    broken('ERR_ROBOTS_NOT_TEXT', 200),
  ],
  [
    'a 206 with the whole file',
    [h2.headers(206, { 'content-range': range }), h2.data(RULES, true)],
    { ...rules, status: 206 },
  ],
  [
    'a 206 with two ranges',
    [h2.headers(206, { 'content-range': [range, 'bytes 0-26/9999'] }), h2.data(RULES, true)],
    broken('ERR_ROBOTS_PARTIAL_CONTENT', 206),
  ],
  [
    'a 206 whose range vanishes',
    [h2.headers(206, { 'content-range': `bytes 0-26/9999${vanishing}` }), h2.data(RULES, true)],
    broken('ERR_ROBOTS_PARTIAL_CONTENT', 206),
  ],
  ['a bomb', [h2.headers(200, { 'content-encoding': 'gzip' }), ...frames(bomb), h2.data('', true)], rules],
  [
    'a file past the limit',
    [h2.headers(200), h2.data(RULES), ...frames(Buffer.alloc(60_000, '#\n'))],
    broken(DEADLINE, 200),
  ],
  ['silence', [], broken(DEADLINE)],
  ['silence after the headers', [h2.headers(200)], broken(DEADLINE, 200)],
  [
    'headers that never end',
    [...Array.from({ length: 25 }, () => [h2.headers(103), 20]).flat()],
    broken(DEADLINE),
  ],
  [
    'a slow drip',
    [h2.headers(200), ...Array.from({ length: 200 }, () => [h2.data('#'), 10]).flat()],
    broken(DEADLINE, 200),
  ],
];

describe('a site that speaks HTTP/2 only', () => {
  const { NODE_TLS_REJECT_UNAUTHORIZED: before } = process.env;
  const open: AsyncDisposable[] = [];

  beforeAll(() => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  });

  afterAll(() => {
    if (before === undefined) delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    else process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = before;
  });

  afterEach(async () => {
    for (const each of open.splice(0)) await each[Symbol.asyncDispose]();
  });

  async function site(...plays: Http2Play[]): Promise<Http2Site> {
    const started = await startHttp2Site(identity, plays);
    open.push(started);
    return started;
  }

  function client(options: RobotsClientOptions = {}): TestClient {
    const made = testClient({ ...(options.dispatcher === undefined ? { lookup } : {}), ...options });
    open.push(made.client);
    return made;
  }

  // Side by side, because some wait for their deadline, which leaves a busy machine the time for two handshakes.
  it.concurrent.each(FAULTS)('%s', async (_, play, { state, allowed, status, error }) => {
    await using started = await startHttp2Site(identity, [play]);
    await using robots = testClient({
      lookup,
      ...(String(error).includes('DEADLINE') ? { deadlineMs: 2_000 } : {}),
    }).client;
    for (let round = 0; round < 2; round++) {
      const decision = await robots.check(`${started.origin}/x/page`);
      expect(decision).toMatchObject({ state, allowed });
      expect(decision.robots.status).toBe(status);
      if (error === undefined) expect(decision.robots.error).toBeUndefined();
      else expect(decision.robots.error).toMatch(error);
    }
    expect(started.requests()).toBe(1);
    // One to find out, one to ask; neither is left open.
    expect(started.connections()).toBe(2);
    await eventually(() => expect(started.open()).toBe(0));
  });

  it('is read up to the limit, and no further', async () => {
    const more = frames(Buffer.from('#\n'.repeat(2_000_000)));
    const started = await site([h2.headers(200), h2.data(RULES), ...more.slice(0, 3), 5_000]);
    const decision = await client({ deadlineMs: 800 }).client.check(`${started.origin}/x/page`);
    expect(decision.robots.error).toBe(DEADLINE);
    const server = await serve((_, respond) => respond(`${RULES}${'#\n'.repeat(2_000_000)}`));
    const read = await client().client.check(`${server.origin}/x/page`);
    expect(read).toMatchObject({ allowed: false, state: 'rules', robots: { truncated: true } });
  });

  interface Served {
    readonly origin: string;
    readonly seen: { readonly path: string; readonly fields: Readonly<Record<string, unknown>> }[];
  }

  async function serve(
    handle: (path: string, respond: (body: string, fields?: Record<string, string | number>) => void) => void,
    allowHTTP1 = false,
  ): Promise<Served> {
    const seen: Served['seen'] = [];
    const server: Http2SecureServer = createSecureServer({ ...identity, allowHTTP1 }, (request, response) => {
      seen.push({ path: request.url, fields: { ...request.headers, version: request.httpVersion } });
      response.on('error', () => undefined);
      handle(request.url, (body, fields = {}) => {
        const { ':status': status = 200, ...rest } = fields;
        response.writeHead(Number(status), rest);
        response.end(body);
      });
    });
    const sessions = new Set<{ destroy(): void }>();
    server.on('session', (session) => {
      sessions.add(session);
      session.on('error', () => undefined);
    });
    server.on('sessionError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    open.push({
      async [Symbol.asyncDispose]() {
        for (const session of sessions) session.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    });
    return { origin: `https://localhost:${(server.address() as AddressInfo).port}`, seen };
  }

  it('is asked as any other: fields, validators, redirects', async () => {
    const server = await serve((path, respond) => {
      if (path === '/robots.txt') respond('', { ':status': 301, location: '/moved/robots.txt?v=2' });
      else respond(RULES, { etag: '"1"', 'cache-control': 'max-age=600' });
    });
    const { client: robots, clock } = client({ headersForRobots: () => ({ 'x-crawl': '7' }) });
    expect(await robots.check(`${server.origin}/x/page`)).toMatchObject({
      allowed: false,
      robots: { hops: 1, finalUrl: `${server.origin}/moved/robots.txt?v=2`, status: 200 },
    });
    clock.advance(3_600_000);
    expect(await robots.canFetch(`${server.origin}/x/page`)).toBe(false);
    expect(server.seen.map(({ path }) => path)).toEqual([
      '/robots.txt',
      '/moved/robots.txt?v=2',
      '/robots.txt',
      '/moved/robots.txt?v=2',
    ]);
    expect(server.seen[0]!.fields).toMatchObject({
      version: '2.0',
      ':authority': new URL(server.origin).host,
      'user-agent': expect.stringContaining('ExampleBot'),
      'accept-encoding': 'identity',
      'x-crawl': '7',
    });
    expect(server.seen[3]!.fields).toMatchObject({ 'if-none-match': '"1"' });
    for (const { fields } of server.seen) expect(fields).not.toHaveProperty('connection');
  });

  it('is asked over HTTP/1.1 where it speaks both', async () => {
    const server = await serve((_, respond) => respond(RULES), true);
    expect(await client().client.canFetch(`${server.origin}/x/page`)).toBe(false);
    expect(server.seen.map(({ fields }) => fields['version'])).toEqual(['1.1']);
  });

  it('answers many at once that other sites redirect to it', async () => {
    const server = await serve((path, respond) =>
      setTimeout(() => respond(path === '/a/robots.txt' ? RULES : ''), 30),
    );
    const { origin } = server;
    const others = await Promise.all(
      Array.from({ length: 8 }, () =>
        serve((_, respond) => respond('', { ':status': 302, location: `${origin}/a/robots.txt` })),
      ),
    );
    const robots = client().client;
    const decisions = await Promise.all(others.map((other) => robots.canFetch(`${other.origin}/x/page`)));
    expect(decisions).toEqual(others.map(() => false));
    expect(server.seen).toHaveLength(8);
  });

  it('is not connected to at an address that the policy refuses', async () => {
    const started = await site(whole);
    const { client: robots } = client({ addressPolicy: 'public-only' });
    expect(await robots.check(`${started.origin}/x/page`)).toMatchObject({
      allowed: false,
      robots: { error: 'ERR_ROBOTS_ADDRESS_REFUSED' },
    });
    expect(started.connections()).toBe(0);
  });

  it('leaves no connection when the client is closed, or no caller waits', async () => {
    const started = await site([]);
    const { client: robots } = testClient({ lookup });
    const asked = robots.check(`${started.origin}/x/page`);
    const refused = expect(asked).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    await eventually(() => expect(started.requests()).toBe(1));
    await robots.close();
    await refused;
    await eventually(() => expect(started.open()).toBe(0));

    const controller = new AbortController();
    const aborted = client().client.check(`${started.origin}/x/page`, undefined, {
      signal: controller.signal,
    });
    await eventually(() => expect(started.requests()).toBe(2));
    controller.abort();
    await expect(aborted).rejects.toBe(controller.signal.reason);
    await eventually(() => expect(started.open()).toBe(0));
  });

  it('is unreachable over a proxy, which makes the connection', async () => {
    const started = await site(whole);
    await using proxy = await startProxy();
    const { ProxyAgent } = await import('undici');
    const dispatcher = new ProxyAgent(proxy.url);
    const decision = await client({ dispatcher }).client.check(`${started.origin}/x/page`);
    expect(decision).toMatchObject({ allowed: false, state: 'disallow-all', reason: 'unreachable' });
    await dispatcher.close();
  });

  it('is guarded over a dispatcher that speaks HTTP/2', async () => {
    const server = await serve((path, respond) => respond(path === '/robots.txt' ? RULES : 'a page'));
    const robots = client().client;
    const agent = new Agent({ allowH2: true });
    const guarded = agent.compose(robotsInterceptor(robots));
    const page = await guarded.request({ origin: server.origin, path: '/page', method: 'GET' });
    expect(await page.body.text()).toBe('a page');
    await expect(
      guarded.request({ origin: server.origin, path: '/x/page', method: 'GET' }),
    ).rejects.toMatchObject({
      code: 'ERR_ROBOTS_DISALLOWED',
    });
    expect(server.seen.map(({ path }) => path)).toEqual(['/robots.txt', '/page']);
    await agent.destroy();
  });
});
