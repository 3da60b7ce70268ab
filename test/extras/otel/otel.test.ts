import { context, type Span, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { traceRobots, type TraceRobotsOptions } from '../../../src/extras/otel/otel.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import { guardFetch, type RobotsClientOptions } from '../../../src/index.ts';
import { DAY, MINUTE } from '../../support/client.ts';
import { opened, openedClient } from '../../support/opened.ts';

const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
const tracer = provider.getTracer('test');
const contexts = new AsyncLocalStorageContextManager();
beforeAll(() => void context.setGlobalContextManager(contexts.enable()));
afterAll(() => {
  context.disable();
  contexts.disable();
});

afterEach(() => exporter.reset());

type Answer = (url: string) => Response | Promise<Response>;

const rules = (): Response => new Response('User-agent: *\nDisallow: /private\n');
const SECRET = {
  headers: { 'set-cookie': 'session=s3cret', location: 'https://user:s3cret@b.example/robots.txt' },
};

/** A client whose answers come from a function, while its spans are made. */
function traced(answers: Answer, options: TraceRobotsOptions = {}, clientOptions: RobotsClientOptions = {}) {
  const tracing = opened(traceRobots(tracer, options));
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    asked.push(url);
    return answers(url);
  };
  const { robots: client, clock } = openedClient({ transport: { fetch }, ...clientOptions });
  return { client, clock, asked, tracing };
}

/** Runs `work` within a span that is active. */
async function within<Value>(name: string, work: (span: Span) => Promise<Value>): Promise<Value> {
  return tracer.startActiveSpan(name, async (span) => {
    const value = await work(span);
    span.end();
    return value;
  });
}

/** The names of all finished spans as a tree, children within their parents, by start. */
function tree(spans: readonly ReadableSpan[], parent?: string): unknown[] {
  return spans
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent)
    .map((span) => {
      const below = tree(spans, span.spanContext().spanId);
      return below.length === 0 ? span.name : { [span.name]: below };
    });
}

const finished = (name?: string): ReadableSpan[] =>
  exporter.getFinishedSpans().filter((span) => name === undefined || span.name === name);

describe('traceRobots', () => {
  it('makes a span of a question that waits, of its attempt and of each request, below the span of the caller', async () => {
    const { client } = traced((url) =>
      url.startsWith('https://a.') ? new Response(null, { status: 301, ...SECRET }) : rules(),
    );
    await within('crawl', () => client.check('https://user:s3cret@a.example/private?sig=s3cret#s3cret'));
    expect(tree(finished())).toEqual([
      { crawl: [{ 'canfetch.check': [{ 'canfetch.attempt': ['GET', 'GET'] }] }] },
    ]);
    expect(finished('canfetch.check')[0]).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'url.full': 'https://a.example/private?sig=REDACTED',
        'canfetch.origin': 'https://a.example',
        'canfetch.agent': 'ExampleBot',
        'canfetch.allowed': false,
        'canfetch.reason': 'rule',
        'canfetch.state': 'rules',
        'canfetch.source': 'network',
        'canfetch.profile': 'rfc9309',
        'canfetch.rule.directive': 'disallow',
        'canfetch.rule.pattern': '/private',
        'canfetch.rule.line': 2,
      },
    });
    expect(finished('canfetch.attempt')[0]?.attributes).toMatchObject({
      'canfetch.outcome': 'success',
      'canfetch.redirects': 1,
      'canfetch.revalidation': false,
    });
    expect(finished('GET')).toMatchObject([
      {
        kind: SpanKind.CLIENT,
        attributes: {
          'http.request.method': 'GET',
          'url.full': 'https://a.example/robots.txt',
          'server.address': 'a.example',
          'server.port': 443,
          'http.response.status_code': 301,
        },
      },
      {
        attributes: {
          'url.full': 'https://b.example/robots.txt',
          'http.request.resend_count': 1,
          'http.response.status_code': 200,
          'http.response.body.size': 33,
        },
      },
    ]);
    expect(
      JSON.stringify(finished().map(({ name, attributes, events }) => [name, attributes, events])),
    ).not.toContain('s3cret');
  });

  it('keeps parents apart where concurrent questions share an attempt, and marks the others', async () => {
    const { client, asked } = traced(rules);
    await Promise.all(
      ['first', 'second'].map((name) => within(name, () => client.check('https://a.example/page'))),
    );
    expect(asked).toHaveLength(1);
    expect(tree(finished())).toEqual(
      expect.arrayContaining([
        { first: [{ 'canfetch.check': [{ 'canfetch.attempt': ['GET'] }] }] },
        { second: ['canfetch.check'] },
      ]),
    );
    const shared = finished('canfetch.check').map(({ attributes }) => attributes['canfetch.shared']);
    expect(shared.sort()).toEqual([true, undefined]);
  });

  it('makes no span of a question that memory answers', async () => {
    const { client } = traced(rules);
    await client.check('https://a.example/page');
    exporter.reset();
    await within('crawl', () => client.check('https://a.example/page'));
    expect(client.peek('https://a.example/page')?.allowed).toBe(true);
    expect(tree(finished())).toEqual(['crawl']);
  });

  it('makes a span of each wait for a turn or a pause, below the span around its request', async () => {
    const clock = virtualClock({ autoAdvance: true });
    const { client } = traced(rules, {}, { clock });
    const responses = [
      new Response('a page'),
      new Response(null, { status: 429, headers: { 'retry-after': '60' } }),
    ];
    const get = guardFetch(async (_url: string) => responses.shift() ?? new Response('a page'), client, {
      pacing: { defaultDelayMs: 2_000, maxDelayMs: 10_000 },
    });
    const visit = (name: string) =>
      within(name, async () =>
        (await get('https://user:s3cret@a.example/page?sig=s3cret')).text().catch(() => ''),
      );
    await visit('first');
    exporter.reset();
    await visit('second');
    expect(tree(finished())).toEqual([{ second: ['canfetch.permit'] }]);
    expect(finished('canfetch.permit')).toMatchObject([
      { attributes: { 'url.full': 'https://a.example/page?sig=REDACTED', 'canfetch.waited_ms': 2_000 } },
    ]);
    exporter.reset();
    await within('deferred', () => expect(get('https://a.example/')).rejects.toThrow());
    // A deferral waits for nothing.
    expect(finished('canfetch.permit')).toEqual([]);
  });

  it('gives a refresh ahead, and an attempt for a policy, the caller for a parent', async () => {
    const { client, clock } = traced(rules);
    await within('policy', () => client.policy('https://a.example/'));
    clock.advance(DAY - MINUTE);
    await within('ahead', () => client.check('https://a.example/page'));
    await expect.poll(() => finished('canfetch.attempt')).toHaveLength(2);
    expect(tree(finished())).toEqual([
      { policy: [{ 'canfetch.attempt': ['GET'] }] },
      { ahead: [{ 'canfetch.attempt': ['GET'] }] },
    ]);
  });

  it('tells failures of the site by error.type, and a question that they answer is none', async () => {
    const { client } = traced((url) => {
      if (url.startsWith('https://gone.')) return new Response(null, { status: 404 });
      if (url.startsWith('https://ill.')) return new Response(null, { status: 503 });
      throw Object.assign(new Error('s3cret'), { code: 'ECONNREFUSED' });
    });
    for (const host of ['gone', 'ill', 'down']) await client.check(`https://${host}.example/`);
    const failed = { code: SpanStatusCode.ERROR };
    expect(finished('GET')).toMatchObject([
      { status: failed, attributes: { 'error.type': '404', 'http.response.status_code': 404 } },
      { status: failed, attributes: { 'error.type': 'ERR_ROBOTS_STATUS', 'http.response.status_code': 503 } },
      { status: failed, attributes: { 'error.type': 'ECONNREFUSED' } },
    ]);
    expect(finished('canfetch.attempt')).toMatchObject([
      { status: { code: SpanStatusCode.UNSET }, attributes: { 'canfetch.outcome': 'unavailable' } },
      { status: failed, attributes: { 'error.type': 'ERR_ROBOTS_STATUS' } },
      { status: failed, attributes: { 'error.type': 'ECONNREFUSED' } },
    ]);
    for (const { status } of finished('canfetch.check')) expect(status.code).toBe(SpanStatusCode.UNSET);
  });

  it('ends the span of a caller who leaves, and of the attempt without a waiting caller', async () => {
    const leaving = new AbortController();
    const { client } = traced(() => {
      leaving.abort();
      return new Promise<Response>(() => undefined);
    });
    const question = client.check('https://a.example/', undefined, { signal: leaving.signal });
    await expect(question).rejects.toThrow();
    await expect.poll(() => finished('canfetch.attempt')).toHaveLength(1);
    expect(finished('canfetch.check')).toMatchObject([
      { status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': 'AbortError' } },
    ]);
  });

  it('traces the questions of guards, below the span around the request', async () => {
    const { client } = traced(rules);
    const fetchPage = guardFetch((_url: string) => Promise.resolve(new Response('a page')), client);
    await within('page', () => fetchPage('https://a.example/page'));
    expect(tree(finished())).toEqual([{ page: [{ 'canfetch.check': [{ 'canfetch.attempt': ['GET'] }] }] }]);
  });

  it('takes a span that a transport has made active for the parent of what it asks', async () => {
    const { client } = traced(rules);
    const outer = traced(async () => {
      await within('transport', () => client.check('https://inner.example/'));
      return rules();
    });
    await outer.client.check('https://outer.example/');
    // Both see every client, so each makes a span of all work. One is enough.
    outer.tracing.close();
    expect(JSON.stringify(tree(finished()))).toContain('{"transport":[{"canfetch.check"');
  });

  it.each([
    [undefined, {}],
    [{}, {}],
    [tracer, { warm: true }],
    [tracer, { cold: true }],
  ])('refuses %s with %s', (given, options) => {
    expect(() => traceRobots(given as typeof tracer, options as TraceRobotsOptions)).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
  });
});
