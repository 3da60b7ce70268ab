import { once } from 'node:events';
import { request as send, type ClientRequest, type IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Moment } from '../../support/moment.ts';
import { openedSite } from '../../support/opened.ts';
import { settled } from '../../support/settled.ts';
import { answer, type Site } from '../../support/site.ts';
import { records } from '../cli/session.ts';
import { ask, startService, type TestService } from './service.ts';

let service: TestService;
let site: Site;
/** Answers once it is released. */
let slow: Site;
let released: Moment;

beforeEach(async () => {
  released = new Moment();
  site = await openedSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private\n' } });
  slow = await openedSite((_, response) => void released.come.then(() => answer(response, { status: 404 })));
  service = await startService();
});

afterEach(async () => {
  released.now();
  await service.terminate();
});

/** A stream of questions that is still open. */
async function open(): Promise<{
  request: ClientRequest;
  response: IncomingMessage;
  lines: AsyncIterator<string>;
}> {
  const request = send(`${service.origin}/v1/check`, { method: 'POST', agent: false });
  request.flushHeaders();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    request.on('error', reject);
  });
  return { request, response, lines: linesOf(response) };
}

async function* linesOf(response: IncomingMessage): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of response.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

async function take(lines: AsyncIterator<string>): Promise<Record<string, any>> {
  return JSON.parse((await lines.next()).value);
}

const post = async (body: string): Promise<Record<string, any>[]> =>
  records((await ask(service.origin, '/v1/check', { method: 'POST', body })).text);

describe('POST /v1/check', () => {
  it('answers each line, in order: URLs, JSON strings, objects, and what is none', async () => {
    const lines = [
      site.url('/private'),
      JSON.stringify(site.url('/a')),
      JSON.stringify({ url: site.url('/private'), agent: ['A', 'B'] }),
      'foo',
      '{"url":1}',
      '{"url":"http://a.example/","agnet":"A"}',
      '{',
      `{"url":"http://a.example/","agent":"+"}`,
      '',
      `http://a.example/${'x'.repeat(70_000)}`,
      site.url('/last'),
    ];
    const answers = await post(lines.join('\n'));
    expect(answers.map(({ line, allowed, error }) => [line, allowed ?? error.code])).toEqual([
      [1, false],
      [2, true],
      [3, false],
      [4, 'ERR_ROBOTS_INVALID_URL'],
      [5, 'ERR_ROBOTS_INVALID_REQUEST'],
      [6, 'ERR_ROBOTS_INVALID_REQUEST'],
      [7, 'ERR_ROBOTS_INVALID_REQUEST'],
      [8, 'ERR_ROBOTS_INVALID_OPTIONS'],
      [10, 'ERR_ROBOTS_INVALID_URL'],
      [11, true],
    ]);
    expect(answers.slice(0, 3).map(({ input }) => input)).toEqual(
      ['/private', '/a', '/private'].map((path) => site.url(path)),
    );
    expect(site.requests).toHaveLength(1);
  });

  it('answers while questions still come', async () => {
    const { request, response, lines } = await open();
    expect(response.headers['content-type']).toBe('application/x-ndjson');
    request.write(`${site.url('/private')}\n`);
    expect(await take(lines)).toMatchObject({ line: 1, allowed: false });
    request.write(`${site.url('/b')}\n`);
    expect(await take(lines)).toMatchObject({ line: 2, allowed: true });
    request.end();
    expect((await lines.next()).done).toBe(true);
  });

  it('keeps the order after a slow origin, while other requests are answered', async () => {
    const { request, lines } = await open();
    request.end(`${slow.url('/a')}\n${site.url('/private')}\n`);
    const single = await ask(service.origin, `/v1/check?url=${encodeURIComponent(site.url('/private'))}`);
    expect(JSON.parse(single.text)).toMatchObject({ allowed: false });
    expect(await post(site.url('/b'))).toMatchObject([{ allowed: true }]);
    await expect.poll(() => slow.requests.length).toBe(1);
    released.now();
    expect(await take(lines)).toMatchObject({ line: 1, reason: 'unavailable' });
    expect(await take(lines)).toMatchObject({ line: 2, reason: 'rule' });
  });

  it('reads no further than its responses are read: 100,000 unread ones stop the questions', async () => {
    const { request, response } = await open();
    response.pause();
    const line = `${site.url(`/${'x'.repeat(200)}`)}\n`;
    let sent = 0;
    const more = (): void => {
      while (sent < 100_000) {
        sent += 100;
        if (!request.write(line.repeat(100))) {
          request.once('drain', more);
          return;
        }
      }
    };
    more();
    // Full buffers of the kernel on both ways come long before the end.
    expect(await settled(() => sent)).toBeLessThan(100_000);
    request.destroy();
  });

  it('goes on after one who left in the middle', async () => {
    const { request, lines } = await open();
    request.write(`${site.url('/a')}\n${slow.url('/a')}\n`);
    await take(lines);
    request.on('error', () => undefined);
    request.destroy();
    expect(await post(site.url('/b'))).toMatchObject([{ allowed: true }]);
    expect(service.stderr.text).toBe('');
  });

  it('takes 16 streams at a time; one more is told to come back', async () => {
    const streams = await Promise.all(Array.from({ length: 16 }, open));
    const { status, headers, text } = await ask(service.origin, '/v1/check', { method: 'POST', body: 'foo' });
    expect([status, headers['retry-after'], JSON.parse(text).code]).toEqual([503, '1', 'ERR_ROBOTS_BUSY']);
    for (const { request, lines } of streams) {
      request.end();
      await lines.next();
    }
    expect(await post('foo')).toHaveLength(1);
  });
});

describe('the end', () => {
  it('SIGTERM: what is under way is answered, and it exits with 0', async () => {
    const single = ask(service.origin, `/v1/check?url=${encodeURIComponent(slow.url('/a'))}`);
    const { request, lines } = await open();
    request.write(`${site.url('/a')}\n`);
    await take(lines);
    await expect.poll(() => slow.requests.length).toBe(1);
    const ended = service.terminate();
    released.now();
    expect(JSON.parse((await single).text)).toMatchObject({ reason: 'unavailable' });
    // The stream ends too, and says that it is not complete.
    expect(await take(lines)).toMatchObject({ error: { code: 'ERR_ROBOTS_CLOSED' } });
    expect((await lines.next()).done).toBe(true);
    expect(await ended).toBe(0);
  });

  it('SIGTERM: a connection on which no request has come does not delay it', async () => {
    const unused = createConnection(service.port, '127.0.0.1');
    const closed = once(unused, 'close');
    // The service has seen it once it answers a later one.
    await once(unused, 'connect');
    expect((await ask(service.origin, '/healthz')).status).toBe(200);
    const since = performance.now();
    expect(await service.terminate()).toBe(0);
    await closed;
    // Requests in progress would have 15 s.
    expect(performance.now() - since).toBeLessThan(10_000);
  });

  it('Ctrl-C: the same, with 130', async () => {
    expect(await service.interrupt()).toBe(130);
  });
});
