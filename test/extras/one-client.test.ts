import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { Registry } from 'prom-client';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { EvidenceEntry } from '../../src/core/client/evidence/entry.ts';
import { traceRobots } from '../../src/extras/otel/otel.ts';
import { robotsMetrics } from '../../src/extras/prometheus/prometheus.ts';
import { virtualClock } from '../../src/extras/testing/index.ts';
import { crawlReport, guardFetch, RobotsClient, type RobotsClientOptions } from '../../src/index.ts';

/** Every channel about a client, and those of work with a start and an end. */
const CHANNELS = [
  ...['fetch', 'decision', 'cache', 'policy-change', 'store', 'usage', 'deferred', 'pause', 'ignored'],
  ...['request', 'body'],
].map((name) => `canfetch:${name}`);
const TRACED = ['check', 'attempt', 'robots-request'].flatMap((name) =>
  ['start', 'asyncEnd'].map((at) => `tracing:canfetch:${name}:${at}`),
);

const RULES = 'User-agent: *\nDisallow: /private\nContent-Usage: /own/ train-ai=n\nCrawl-delay: 0\n';
const BUSY: RobotsClientOptions = { agent: 'BusyBot/1.0' };
const CALM: RobotsClientOptions = { agent: 'CalmBot/1.0' };

/** A client whose store fails. */
function crawler(options: RobotsClientOptions): RobotsClient {
  const client = new RobotsClient({
    clock: virtualClock({ autoAdvance: true }),
    transport: { fetch: async () => new Response(RULES) },
    store: {
      get: () => Promise.reject(new Error('no store')),
      set: () => Promise.reject(new Error('no store')),
      delete: () => {},
    },
    ...options,
  });
  onTestFinished(() => client.close());
  return client;
}

const RESPONSES: Readonly<Record<string, () => Response>> = {
  '/sold': () => new Response(null, { status: 402 }),
  '/busy': () => new Response(null, { status: 429, headers: { 'retry-after': '3600' } }),
  '/cut': () =>
    new Response(new ReadableStream({ start: (body) => body.error(new Error('cut')) }, { highWaterMark: 0 })),
};

/** Something of everything that is published. */
async function crawl(client: RobotsClient, site: string): Promise<void> {
  const page = (async (url: string) =>
    (RESPONSES[new URL(url).pathname] ?? (() => new Response('page')))()) as typeof fetch;
  const get = guardFetch(page, client, { purpose: 'train-ai', pacing: { maxDelayMs: 1_000 } });
  const robots = { ignore: true, because: 'ours' };
  await get(`${site}/imprint`, { robots } as RequestInit);
  for (const path of ['/page', '/private', '/own/a', '/sold', '/cut', '/busy', '/deferred'])
    await get(site + path)
      .then((response) => response.text())
      .catch(() => undefined);
}

describe('with two clients in the process', () => {
  it('each message has its client', async () => {
    const [busy, calm] = [crawler(BUSY), crawler(CALM)];
    const heard = new Map<string, Set<unknown>>();
    for (const name of [...CHANNELS, ...TRACED]) {
      const clients = new Set<unknown>();
      heard.set(name, clients);
      const listener = (message: unknown): void => void clients.add(Reflect.get(Object(message), 'client'));
      subscribe(name, listener);
      onTestFinished(() => void unsubscribe(name, listener));
    }
    await crawl(busy, 'https://a.example');
    for (const [name, clients] of heard) expect([name, [...clients]]).toEqual([name, [busy]]);
    await crawl(calm, 'https://a.example');
    for (const [name, clients] of heard) expect([name, [...clients]]).toEqual([name, [busy, calm]]);
  });

  it('metrics count what the client of their registry did', async () => {
    const clients = [crawler(BUSY), crawler(CALM)] as const;
    const registries = clients.map((client) => {
      const registry = new Registry();
      const metrics = robotsMetrics(client, registry);
      onTestFinished(() => metrics.close());
      return registry;
    });
    await crawl(clients[0], 'https://a.example');
    const [ofBusy, ofCalm] = await Promise.all(registries.map((registry) => registry.getMetricsAsJSON()));
    const counted = ofBusy?.filter(({ name }) => name.endsWith('_total'));
    expect(counted?.filter(({ values }) => values.length === 0)).toEqual([]);
    for (const { name, values } of ofCalm ?? [])
      expect([name, values.filter(({ value }) => value !== 0)]).toEqual([name, []]);
  });

  it('a report counts what its client did', async () => {
    const [busy, calm] = [crawler(BUSY), crawler(CALM)];
    using ofBusy = crawlReport(busy, { onFirstRefused: false });
    using ofCalm = crawlReport(calm, { onFirstRefused: false });
    const empty = { totals: ofCalm.totals(), lines: [...ofCalm.toNDJSON()] };
    await crawl(busy, 'https://a.example');
    expect(ofBusy.totals()).toMatchObject({
      sent: 5,
      refused: 2,
      deferred: 1,
      ignored: 1,
      pauses: 1,
      cut: 1,
    });
    expect({ totals: ofCalm.totals(), lines: [...ofCalm.toNDJSON()] }).toEqual(empty);
  });

  it('spans are of the client that `traceRobots` is given, or of both', async () => {
    const exporter = new InMemorySpanExporter();
    const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
    const contexts = new AsyncLocalStorageContextManager();
    context.setGlobalContextManager(contexts.enable());
    onTestFinished(() => {
      context.disable();
      contexts.disable();
    });
    const [busy, calm] = [crawler(BUSY), crawler(CALM)];
    const spansOf = async (client: RobotsClient | undefined, site: string): Promise<string[]> => {
      exporter.reset();
      using _ = traceRobots(provider.getTracer('test'), client && { client });
      await Promise.all([busy.check(`${site}/1`), calm.check(`${site}/2`)]);
      return exporter.getFinishedSpans().map(({ name, attributes }) => {
        const whose = attributes['canfetch.agent'];
        return whose === undefined ? name : `${name} ${String(whose)}`;
      });
    };
    const ofBusy = ['GET', 'canfetch.attempt', 'canfetch.check BusyBot'];
    expect(await spansOf(busy, 'https://a.example')).toEqual(ofBusy);
    const ofCalm = ['GET', 'canfetch.attempt', 'canfetch.check CalmBot'];
    expect((await spansOf(undefined, 'https://b.example')).sort()).toEqual([...ofBusy, ...ofCalm].sort());
  });

  it('evidence has what its client did', async () => {
    const entries: Record<string, EvidenceEntry[]> = { busy: [], calm: [] };
    const noting = (name: string) => ({
      evidence: (entry: EvidenceEntry) => void entries[name]?.push(entry),
    });
    const busy = crawler({ ...BUSY, ...noting('busy') });
    crawler({ ...CALM, ...noting('calm') });
    await crawl(busy, 'https://a.example');
    expect(new Set(entries['busy']?.map(({ type }) => type))).toContain('decision');
    expect(entries['calm']?.filter(({ type }) => type !== 'run')).toEqual([]);
  });
});
