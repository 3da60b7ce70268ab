import { connect, createServer } from 'node:net';
import { Agent as HttpsAgent } from 'node:https';
import axios from 'axios';
import got from 'got';
import { Agent } from 'undici';
import { describe, expect, it } from 'vitest';
import type { Decision, RobotsClientOptions } from '../../../src/index.ts';
import { axiosTransport } from '../../../src/guards/axios/axios.ts';
import { gotTransport } from '../../../src/guards/got/got.ts';
import { type Identity, makeAuthority, selfSigned } from '../../support/certificates.ts';
import { DAY } from '../../support/client.ts';
import { type Steps, runSteps } from '../../support/socket-steps.ts';
import { REFUSING_HOST, type Site, startRawSite } from '../../support/site.ts';
import {
  broken,
  DEADLINE,
  type Expected,
  type Fault,
  FAULTS,
  rules,
  RULES,
  type TransportName,
} from './fault-table.ts';
import { opened, openedClient } from '../../support/opened.ts';

const authority = makeAuthority();
const host = 'localhost';
const identities: Readonly<Record<Exclude<Fault['tls'], 'mute' | undefined>, Identity>> = {
  expired: authority.issue({ host, from: new Date(2001, 0), until: new Date(2002, 0) }),
  'not yet valid': authority.issue({ host, from: new Date(2101, 0), until: new Date(2102, 0) }),
  'for another host': authority.issue({ host: 'example.com' }),
  'self-signed': selfSigned({ host }),
};

/** Trusts the test authority, so that nothing is wrong with its certificates but what a test made wrong. */
const trusting = new Agent({ connect: { ca: authority.cert } });

function withDispatcher(init: RequestInit): RequestInit {
  return Object.assign(init, { dispatcher: trusting });
}

interface Row {
  readonly options: RobotsClientOptions;
  readonly overTls: RobotsClientOptions;
}

const TRANSPORTS: readonly (readonly [name: TransportName, Row])[] = [
  ['undici', { options: {}, overTls: { dispatcher: trusting } }],
  [
    'fetch',
    {
      options: { transport: { fetch } },
      // Node's fetch takes a dispatcher of any version.
      overTls: { transport: { fetch: (url, init) => fetch(url, withDispatcher(init)) } },
    },
  ],
  [
    'got',
    {
      options: { transport: gotTransport(got) },
      overTls: { transport: gotTransport(got.extend({ https: { certificateAuthority: authority.cert } })) },
    },
  ],
  [
    'axios',
    {
      options: { transport: axiosTransport(axios) },
      overTls: {
        transport: axiosTransport(axios.create({ httpsAgent: new HttpsAgent({ ca: authority.cert }) })),
      },
    },
  ],
];

/** A server that runs the next script for each request; the last one is repeated. */
async function stage(scripts: readonly Steps[], identity?: Identity): Promise<Site> {
  let next = 0;
  const site = await startRawSite((socket) => {
    void runSteps(socket, scripts[Math.min(next++, scripts.length - 1)] ?? []);
  }, identity);
  return opened(site);
}

/** Passes bytes on to `port` and back, and closes the connection after so many of them, in the middle of a TLS record. */
async function startCuttingRelay(
  port: number,
  bytes: number,
): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = createServer((client) => {
    let passed = 0;
    const site = connect(port, '127.0.0.1');
    for (const socket of [client, site]) socket.on('error', () => {});
    client.pipe(site);
    site.on('data', (chunk: Buffer) => {
      if (passed > bytes) return;
      passed += chunk.length;
      client.write(chunk);
      if (passed > bytes) client.end();
    });
    client.once('close', () => site.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a port');
  return {
    origin: `https://localhost:${address.port}`,
    [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

function expectDecision(decision: Decision, expected: Expected): void {
  const { state, reason, status, error, hops = 0 } = expected;
  expect(decision).toMatchObject({ state, reason, robots: { hops } });
  expect(decision.robots.status).toBe(status);
  if (error === undefined) expect(decision.robots.error).toBe(undefined);
  else expect(decision.robots.error).toMatch(error);
  expect(decision.allowed).toBe(reason === 'unavailable' || reason === 'no-group');
}

const isClosed = ({ error, status }: Expected): boolean =>
  status === undefined &&
  error !== undefined &&
  ['UND_ERR_SOCKET', 'ECONNRESET'].some((code) => code.match(error));

/** Long enough for the request to arrive, and for an answer to come first, where the machine is busy. */
const DEADLINE_MS = 8_000;
/** What floods the client takes all of its processor until then. The request arrives before, on a busy machine, too. */
const FLOOD_MS = 1_000;
/** So many of these faults there are, over all transports. */
const LASTING = 21;
/** Where none should come, however busy the machine is. */
const LATE_MS = 50_000;

const expectedOf = (name: TransportName, fault: Fault): Expected => fault.over?.[name] ?? fault.expected;
/** Whether it ends at the deadline, and the server does nothing meanwhile that would hold up others. */
const lasts = (name: TransportName, fault: Fault): boolean =>
  expectedOf(name, fault).error === DEADLINE &&
  !fault.scripts.flat().some((step) => typeof step === 'object' && 'endless' in step);

async function meets(name: TransportName, { options, overTls }: Row, fault: Fault): Promise<void> {
  const identity = fault.tls === undefined || fault.tls === 'mute' ? undefined : identities[fault.tls];
  const site = await stage(fault.scripts, identity);
  const origin = fault.tls === 'mute' ? site.origin.replace('http:', 'https:') : site.origin;
  const expected = expectedOf(name, fault);
  const { robots } = openedClient({
    ...(identity === undefined ? options : overTls),
    deadlineMs: expected.error !== DEADLINE ? LATE_MS : lasts(name, fault) ? DEADLINE_MS : FLOOD_MS,
  });

  expectDecision(await robots.check(`${origin}/x/page`), expected);
  expectDecision(await robots.check(`${origin}/x/page`), expected);
  // Others than undici may have sent the request over a connection that the site had closed.
  const sent = name !== 'undici' && fault.tls === undefined && isClosed(expected) ? 2 : 1;
  expect(site.requests.length).toBe(fault.requests ?? (fault.tls === undefined ? sent : 0));
  // What buffers on the way take in comes on top of what is read. A deadline bounds the time, not the bytes.
  if (expected.error !== DEADLINE) expect(site.bytesSent()).toBeLessThan(16 << 20);
  if (fault.whole === true) return;
  // A fetch of the platform may also go on with a handshake that is not needed any more.
  await (name === 'fetch' ? site.left() : site.idle());
}

describe.each(TRANSPORTS)('over %s', (name, row) => {
  const { options, overTls } = row;

  it.each(FAULTS.filter((fault) => !lasts(name, fault)))('$name', (fault) => meets(name, row, fault));

  it('a body without a length, cut without close_notify: Node does not tell it from a whole one', async () => {
    const padded = `HTTP/1.1 200 OK\r\n\r\n${RULES}#${'x'.repeat(65_536)}`;
    const site = await stage([[padded]], authority.issue({ host }));
    const relay = opened(await startCuttingRelay(Number(new URL(site.origin).port), 32_768));
    const { robots } = openedClient(overTls);
    expectDecision(await robots.check(`${relay.origin}/x/page`), rules());
  });

  it('a name that does not resolve', async () => {
    const { robots } = openedClient(options);
    // Its label is too long for a question to a name server.
    const url = `http://${'a'.repeat(64)}.localhost/x/page`;
    expectDecision(await robots.check(url), broken(/^(?:ENOTFOUND|EAI_AGAIN)$/));
  });

  it('a refused connection', async () => {
    const { robots } = openedClient(options);
    expectDecision(await robots.check(`http://${REFUSING_HOST}/x/page`), broken('ECONNREFUSED'));
  });

  it('an honest answer, byte by byte', async () => {
    const answer = `HTTP/1.1 200 OK\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`;
    const site = await stage([[{ slowly: answer, everyMs: 0 }]]);
    const { robots } = openedClient(options);
    expectDecision(await robots.check(site.url('/x/page')), rules());
  });
});

// All wait for the same time. Last, so that each library is loaded: that takes seconds on a busy machine.
it('what lasts until the deadline', async () => {
  const lasting = TRANSPORTS.flatMap(([name, row]) =>
    FAULTS.filter((fault) => lasts(name, fault)).map((fault) =>
      meets(name, row, fault).catch((cause: unknown) => {
        throw new Error(`${fault.name}, over ${name}`, { cause });
      }),
    ),
  );
  expect(await Promise.all(lasting)).toHaveLength(LASTING);
});

const pool = new Agent();
const KEEPING: readonly (readonly [name: string, RobotsClientOptions])[] = [
  ["the platform's fetch", { transport: { fetch } }],
  ["the caller's dispatcher", { dispatcher: pool }],
];

describe.each(KEEPING)('a kept connection closed under us, over %s', (_name, options) => {
  const KEPT = `HTTP/1.1 200 OK\r\ncontent-length: ${RULES.length}\r\n\r\n${RULES}`;

  /** Answers the first request of each connection, if `again` or it is the first of all; then does `farewell`. */
  async function farewell(last: 'end' | 'reset', again: boolean): Promise<Site> {
    const used = new WeakSet<object>();
    const site = await startRawSite((socket) => {
      const answers = !used.has(socket) && (again || site.connections() === 1);
      used.add(socket);
      void runSteps(socket, answers ? [KEPT] : [last]);
    });
    return opened(site);
  }

  it.each(['end', 'reset'] as const)('(%s) is opened anew, once', async (last) => {
    const site = await farewell(last, true);
    const { robots, clock } = openedClient(options);
    await robots.check(site.url('/x/page'));
    // The connection is free again when its last answer has been dealt with.
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(2 * DAY);
    expectDecision(await robots.check(site.url('/x/page')), rules());
    expect(site.requests.length).toBe(3);
    expect(site.connections()).toBe(2);
  });

  it.each(['end', 'reset'] as const)('(%s) is not opened anew again', async (last) => {
    const site = await farewell(last, false);
    const { robots, clock } = openedClient({ ...options, profile: 'koster-1996' });
    await robots.check(site.url('/x/page'));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(8 * DAY);
    const decision = await robots.check(site.url('/x/page'));
    expect(decision).toMatchObject({ state: 'disallow-all', reason: 'unreachable' });
    expect(decision.robots.error).toMatch(/^(?:ECONNRESET|UND_ERR_SOCKET)$/);
    expect(site.requests.length).toBe(3);
  });
});
