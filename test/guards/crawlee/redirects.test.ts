import { describe, expect, it } from 'vitest';
import { guardHttpClient } from '../../../src/guards/crawlee/http-client.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../../../src/guards/crawlee/types.ts';
import { Guard } from '../../../src/guards/shared/guard.ts';
import { decidedBy, scriptedClient } from '../support.ts';

const START = 'https://example.com/start';

/** A client that answers by URL, as told, and what passed: decisions, requests, failures. */
class Scripted implements HttpClient {
  readonly sent: HttpRequest[] = [];
  readonly passed: string[] = [];
  readonly destroyed: string[] = [];
  /** The path that robots.txt disallows. */
  refused = '/private';
  readonly #answers: Readonly<Record<string, Partial<HttpResponse> | Error>>;

  constructor(answers: Readonly<Record<string, Partial<HttpResponse> | Error>>) {
    this.#answers = answers;
  }

  get guarded(): HttpClient {
    const robots = scriptedClient(`User-agent: *\nDisallow: ${this.refused}`);
    const decided = decidedBy(robots);
    decided.push = (url) => this.passed.push(`decided ${url}`);
    const guard = new Guard(robots, {}, { choosesUserAgent: true });
    guard.reports.failed = (url) => void this.passed.push(`failed ${url}`);
    return guardHttpClient(this, () => ({ guard, because: undefined }));
  }

  async sendRequest(request: HttpRequest): Promise<HttpResponse> {
    this.sent.push(request);
    const url = String(request.url);
    this.passed.push(`sent ${url}`);
    const answer = this.#answers[url] ?? {};
    if (answer instanceof Error) throw answer;
    const stream = { destroy: () => this.destroyed.push(url) };
    return { statusCode: 200, headers: {}, url, stream, ...answer };
  }

  stream(request: HttpRequest): Promise<HttpResponse> {
    return this.sendRequest(request);
  }
}

const to = (location: string, statusCode = 302): Partial<HttpResponse> => ({
  statusCode,
  headers: { location },
});
const urlsOf = (client: Scripted): string[] => client.sent.map(({ url }) => String(url));

describe('an HTTP client of Crawlee, guarded', () => {
  it.each([
    ['POST', 302, 'GET', undefined],
    ['POST', 303, 'GET', undefined],
    ['PUT', 302, 'PUT', 'x'],
    ['post', 307, 'POST', 'x'],
  ])('a %s after a %i is a %s', async (method, status, sent, body) => {
    const client = new Scripted({ [START]: to('/a', status) });
    await client.guarded.sendRequest({
      url: START,
      method,
      body: 'x',
      headers: { 'content-type': 'text/plain' },
    });
    expect(client.sent[1]).toMatchObject({ method: sent });
    expect(client.sent[1]?.body).toBe(body);
    expect(Object.keys(client.sent[1]?.headers ?? {})).toEqual(body === undefined ? [] : ['content-type']);
  });

  it.each([
    ['a stream', new ReadableStream()],
    ['a generator', (function* () {})()],
  ])('does not send %s a second time', async (_, body) => {
    const client = new Scripted({ [START]: to('/a', 307) });
    await expect(client.guarded.sendRequest({ url: START, method: 'POST', body })).rejects.toThrow(TypeError);
    expect(client.sent).toHaveLength(1);
  });

  it('calls onRedirect in time for other headers and another URL; `Cookie` replaces `cookie`', async () => {
    const client = new Scripted({ [START]: to('/a') });
    await client.guarded.stream({ url: START, headers: { cookie: 'a=1' } }, (response, updated) => {
      expect([response.statusCode, String(updated.url)]).toEqual([302, 'https://example.com/a']);
      updated.url = 'https://example.com/c';
      updated.headers['Cookie'] = 'b=2';
    });
    expect(urlsOf(client)).toEqual([START, 'https://example.com/c']);
    expect(client.sent[1]?.headers).toEqual({ Cookie: 'b=2' });
    expect(client.passed).toContain('decided https://example.com/c');
    // The body of a redirect is let go, that of the page is not.
    expect(client.destroyed).toEqual([START]);
  });

  it('names the hop that failed', async () => {
    const client = new Scripted({ [START]: to('/a'), 'https://example.com/a': new Error('reset') });
    await expect(client.guarded.sendRequest({ url: START })).rejects.toThrow('reset');
    expect(client.passed.at(-1)).toBe('failed https://example.com/a');
  });

  it('that reports its URL without the fragment, or not at all, has followed none', async () => {
    for (const url of [START, undefined]) {
      const client = new Scripted({ [`${START}#part`]: url === undefined ? {} : { url } });
      expect((await client.guarded.sendRequest({ url: `${START}#part` })).statusCode).toBe(200);
    }
  });
});

it('calls the `beforeRedirect` of got, with the URL and the headers that follow, and waits for it', async () => {
  const client = new Scripted({ [START]: to('/a') });
  const beforeRedirect = async (updated: { url: string | URL; headers: object }): Promise<void> => {
    await Promise.resolve();
    client.passed.push(`redirect to ${updated.url}`);
    Object.assign(updated.headers, { 'x-hop': '2' });
  };
  await client.guarded.sendRequest({ url: START, hooks: { beforeRedirect: [beforeRedirect] } });
  expect(client.passed.slice(2, 4)).toEqual([
    'redirect to https://example.com/a',
    'decided https://example.com/a',
  ]);
  expect(client.sent[1]?.headers).toEqual({ 'x-hop': '2' });
});

it('poses as one browser at all hops', async () => {
  const client = new Scripted({ [START]: to('/a') });
  await client.guarded.sendRequest({ url: START });
  const [first, second] = client.sent.map(({ sessionToken }) => sessionToken);
  expect(first).toBeTypeOf('object');
  expect(second).toBe(first);
});
