import { createConnection, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterEach, expect, it } from 'vitest';
import { Moment } from '../../support/moment.ts';
import { answer, type Site, startSite } from '../../support/site.ts';
import { ask, startService, type TestService } from './service.ts';

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

it('a stream whose responses are not read is ended', async () => {
  const service = await started({ idleMs: STALLED_MS });
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

it('a stream that sends no question is ended, and makes room for others', async () => {
  // They must all be open when another one asks, however slow the machine is.
  const service = await started({ idleMs: 5 * STALLED_MS });
  const streams = Array.from({ length: 16 }, () => connection(service, STREAM));
  const another = (): ReturnType<typeof ask> =>
    ask(service.origin, '/v1/check', { method: 'POST', body: 'foo' });
  await expect.poll(async () => (await another()).status).toBe(503);
  await Promise.all(streams.map(({ ended }) => ended));
  expect((await another()).status).toBe(200);
  // Of failures there are lines of the access log, and nothing else.
  expect(service.stderr.text.match(/^(?!.*"status":503).+$/m)).toBeNull();
});

/** A question that costs no network. */
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const SMALL = { method: 'POST', headers: FORM, body: 'robots=' };

it('explanations are bounded in number: more are told to come back, and others are answered', async () => {
  const service = await started({ largeAnswers: 3 });
  const released = new Moment();
  const slow = await site((_, response) => void released.come.then(() => answer(response, { status: 404 })));
  const url = encodeURIComponent(slow.url('/a'));
  const held = [
    ask(service.origin, `/v1/explain?url=${url}`),
    ask(service.origin, `/v1/explain?url=${url}&agent=A`),
    ask(service.origin, `/v1/policy?origin=${url}`),
  ];
  const small = (): ReturnType<typeof ask> => ask(service.origin, '/try', SMALL);
  await expect.poll(async () => (await small()).status).toBe(503);
  expect((await small()).headers['retry-after']).toBe('1');
  const { text } = await ask(service.origin, `/v1/policy?origin=${url}`);
  expect(JSON.parse(text).code).toBe('ERR_ROBOTS_BUSY');
  expect((await ask(service.origin, '/healthz')).status).toBe(200);
  released.now();
  expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect((await small()).status).toBe(200);
});

it('a connection that reads none of its explanations is ended, and none of them is held any longer', async () => {
  const largeAnswers = 4;
  const service = await started({ idleMs: STALLED_MS, largeAnswers });
  const body = `robots=${'Disallow: /aaaaaaa%0A'.repeat(5_000)}`;
  const type = FORM['content-type'];
  const request = `POST /try HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { socket, ended } = connection(service, request);
  socket.pause();
  const more = (): void => {
    while (socket.write(request));
    socket.once('drain', more);
  };
  more();
  await ended;
  const all = Array.from({ length: largeAnswers }, () => ask(service.origin, '/try', SMALL));
  expect((await Promise.all(all)).map(({ status }) => status)).toEqual(all.map(() => 200));
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

it('a connection whose header section does not come is ended', async () => {
  const service = await started({ headersMs: STALLED_MS });
  const { ended } = connection(service, 'GET /healthz HTTP/1.1\r\nHost: local');
  expect(await ended).toContain('HTTP/1.1 408');
});
