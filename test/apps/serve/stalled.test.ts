import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { answer, type Site, startSite } from '../../support/site.ts';
import { records } from '../cli/session.ts';
import { ask, deferred, startService, type TestService } from './service.ts';

/** Long enough for a machine with much to do, short enough to be waited for. */
const STALLED_MS = 300;

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function started(limits: Parameters<typeof startService>[2]): Promise<TestService> {
  const service = await startService(['--allow-private'], undefined, limits);
  open.push(() => service.terminate());
  return service;
}

async function site(handler: Parameters<typeof startSite>[0]): Promise<Site> {
  const made = await startSite(handler);
  open.push(() => made.close());
  return made;
}

/** A connection that has sent so much of a request, and what came back when the service ended it. */
function connection({ port }: TestService, sent: string): { socket: Socket; ended: Promise<string> } {
  const socket = createConnection(port, '127.0.0.1');
  open.push(() => socket.destroy());
  socket.on('error', () => undefined);
  socket.write(sent);
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(received)));
  return { socket, ended };
}

const STREAM = 'POST /v1/check HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

it('eight silent streams are ended, and make room for others', async () => {
  // They must all be open when another one asks, however slow the machine is.
  const service = await started({ stalledMs: 5 * STALLED_MS });
  const streams = Array.from({ length: 8 }, () => connection(service, STREAM));
  await expect
    .poll(async () => (await ask(service.origin, '/v1/check', { method: 'POST', body: 'foo' })).status)
    .toBe(503);
  for (const text of await Promise.all(streams.map(({ ended }) => ended))) {
    expect(text).toContain('"code":"ERR_ROBOTS_REQUEST_TIMEOUT"');
  }
  expect((await ask(service.origin, '/v1/check', { method: 'POST', body: 'foo' })).status).toBe(200);
  // Of failures there are lines of the access log, and nothing else.
  expect(service.stderr.text.match(/^(?!.*"status":503).+$/m)).toBeNull();
});

it('a stream that trickles bytes and blank lines, but no question, is ended too', async () => {
  const service = await started({ stalledMs: STALLED_MS });
  const { socket, ended } = connection(service, STREAM);
  const trickle = setInterval(() => socket.write(chunk('\n#')), STALLED_MS / 10);
  open.push(() => clearInterval(trickle));
  expect(await ended).toContain('"code":"ERR_ROBOTS_REQUEST_TIMEOUT"');
});

it('a stream that waits for our answers is not ended', async () => {
  const service = await started({ stalledMs: 20 });
  const { promise, resolve } = deferred<void>();
  const slow = await site((_, response) => void promise.then(() => answer(response, { status: 404 })));
  const { socket, ended } = connection(
    service,
    STREAM.replace('\r\n', '\r\nConnection: close\r\n') + chunk(`${slow.url('/a')}\n`),
  );
  await expect.poll(() => slow.requests.length).toBe(1);
  // Other requests take their time meanwhile, longer than the limit together.
  const since = performance.now();
  while (performance.now() - since < 100) await ask(service.origin, '/healthz');
  resolve();
  socket.write('0\r\n\r\n');
  const text = await ended.catch(String);
  expect(text).toContain('"reason":"unavailable"');
  expect(text).not.toContain('ERR_ROBOTS_REQUEST_TIMEOUT');
});

it('a stream whose responses are not read is ended', async () => {
  const service = await started({ stalledMs: STALLED_MS });
  const { socket } = connection(service, STREAM);
  socket.pause();
  const questions = chunk(`http://a.example/robots.txt?${'x'.repeat(2_000)}\n`.repeat(20));
  const more = (): void => {
    while (socket.write(questions));
    socket.once('drain', more);
  };
  more();
  const [failure] = await once(socket, 'error');
  expect(failure).toMatchObject({ code: expect.stringMatching(/EPIPE|ECONNRESET/) });
});

/** A question that costs no network. */
const SMALL = { method: 'POST', body: '{"robots":"","urls":["/"]}' };

it('explanations are bounded in number: more are told to come back, and others are answered', async () => {
  const service = await started({ explanations: 3 });
  const { promise, resolve } = deferred<void>();
  const slow = await site((_, response) => void promise.then(() => answer(response, { status: 404 })));
  const url = encodeURIComponent(slow.url('/a'));
  const held = [
    ask(service.origin, `/v1/explain?url=${url}`),
    ask(service.origin, `/v1/explain?url=${url}&agent=A`),
    ask(service.origin, `/v1/policy?origin=${url}`),
  ];
  const small = (): ReturnType<typeof ask> => ask(service.origin, '/v1/explain', SMALL);
  await expect.poll(async () => (await small()).status).toBe(503);
  const { headers, text } = await small();
  expect([headers['retry-after'], JSON.parse(text).code]).toEqual(['1', 'ERR_ROBOTS_BUSY']);
  expect((await ask(service.origin, '/healthz')).status).toBe(200);
  resolve();
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await small()).status).toBe(200);
});

it('a connection that reads none of its explanations is ended, and none of them is held any longer', async () => {
  const explanations = 4;
  const service = await started({ stalledMs: STALLED_MS, explanations });
  const body = JSON.stringify({ robots: 'Disallow: /aaaaaaa\n'.repeat(5_000), urls: ['/'] });
  const request = `POST /v1/explain HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { socket, ended } = connection(service, request);
  socket.pause();
  const more = (): void => {
    while (socket.write(request));
    socket.once('drain', more);
  };
  more();
  await ended;
  const all = Array.from({ length: explanations }, () => ask(service.origin, '/v1/explain', SMALL));
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
});

it('questions before the silence are answered', async () => {
  const service = await started({ stalledMs: STALLED_MS });
  const { ended } = connection(service, STREAM + chunk('http://a.example/robots.txt\n'));
  const lines = (await ended).split('\r\n').filter((line) => line.startsWith('{'));
  expect(records(lines.join('\n'))).toMatchObject([
    { line: 1, reason: 'robots-txt' },
    { error: { code: 'ERR_ROBOTS_REQUEST_TIMEOUT' } },
  ]);
});

const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';

it('a hundred requests that are sent at once are all answered, in their order', async () => {
  const service = await started({});
  const paths = Array.from({ length: 100 }, (_, at) => `/v1/check?url=http://a.example/robots.txt?${at}`);
  const last = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
  const { ended } = connection(
    service,
    paths.map((path) => HEALTH.replace('/healthz', path)).join('') + last,
  );
  const asked = [...(await ended).matchAll(/"input":"[^"]+\?(\d+)"/g)].map(([, at]) => Number(at));
  expect(asked).toEqual(paths.map((_, at) => at));
});

it('connections whose requests wait, because a site is slow, are ended', async () => {
  const service = await started({ stalledMs: STALLED_MS });
  const slow = await site(() => undefined);
  const question = HEALTH.replace('/healthz', `/v1/check?url=${encodeURIComponent(slow.url('/a'))}`);
  const connections = Array.from({ length: 20 }, () => connection(service, question.repeat(100)));
  for (const text of await Promise.all(connections.map(({ ended }) => ended))) expect(text).toBe('');
  expect(slow.requests).toHaveLength(1);
});

it('a connection that sends request after request, and reads no answer, is ended', async () => {
  const service = await started({ stalledMs: STALLED_MS });
  const long = HEALTH.replace('/healthz', '/openapi.json');
  const { socket, ended } = connection(service, long.repeat(400));
  socket.pause();
  const more = setInterval(() => socket.write(HEALTH), STALLED_MS / 10);
  open.push(() => clearInterval(more));
  await ended;
  expect((await ask(service.origin, '/healthz')).status).toBe(200);
});

it('a connection that reads a long answer slowly is not ended', async () => {
  // This process may stall, too, and then reads nothing.
  const service = await started({ stalledMs: 5 * STALLED_MS });
  const body = JSON.stringify({ robots: 'Disallow: /aaaaaaa\n'.repeat(45_000), urls: ['/'] });
  const request = `POST /v1/explain HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { socket, ended } = connection(service, request);
  socket.on('data', () => {
    socket.pause();
    setTimeout(() => socket.resume(), STALLED_MS / 2);
  });
  const text = await ended;
  expect(text.length).toBeGreaterThan(Number(/content-length: (\d+)/.exec(text)?.[1]));
});

it('a connection whose header section does not come is ended', async () => {
  const service = await started({ headersMs: STALLED_MS });
  const { ended } = connection(service, 'GET /healthz HTTP/1.1\r\nHost: local');
  expect(await ended).toContain('HTTP/1.1 408');
});
