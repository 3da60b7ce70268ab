import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { CacheMessage, PolicyChangeMessage } from '../../core/cache/index.ts';
import type { FetchMessage, RobotsClient } from '../../core/client/index.ts';
import type { DecisionMessage } from '../../core/decision/index.ts';
import type { StoreEvent } from '../../core/store/index.ts';

/** The part of the module `prom-client` that metrics use. */
export type PromClient = Pick<typeof import('prom-client'), 'Registry' | 'Counter' | 'Gauge' | 'Histogram'>;

/** Histogram buckets in seconds, from an answer out of memory to the default deadline. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Loads `prom-client`, an optional peer dependency; `undefined` when it is not installed. */
export async function loadPromClient(): Promise<PromClient | undefined> {
  try {
    const { default: prom } = await import('prom-client');
    assertServed(prom);
    return prom;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** Before version 13, metrics are not collected when they are read, so that all would stay 0. */
function assertServed(prom: PromClient): void {
  if (new prom.Registry().metrics() instanceof Promise) return;
  throw new RobotsInvalidOptionsError(
    'Expected prom-client 13 or later for the metrics, got an earlier one; update the package `prom-client`',
  );
}

/** Counts events by up to three labels. Unlike labels of prom-client, counting allocates no object. */
class Counts {
  readonly #cells = new Map<string, Map<string, Map<string, { count: number }>>>();

  add(first: string, second = '', third = ''): void {
    let bySecond = this.#cells.get(first);
    if (bySecond === undefined) this.#cells.set(first, (bySecond = new Map()));
    let byThird = bySecond.get(second);
    if (byThird === undefined) bySecond.set(second, (byThird = new Map()));
    const cell = byThird.get(third);
    if (cell === undefined) byThird.set(third, { count: 1 });
    else cell.count++;
  }

  forEach(visit: (labels: readonly string[], count: number) => void): void {
    for (const [first, bySecond] of this.#cells) {
      for (const [second, byThird] of bySecond) {
        for (const [third, { count }] of byThird) visit([first, second, third], count);
      }
    }
  }
}

/** Makes metrics of each kind in `registry`. */
function metricsIn(
  prom: PromClient,
  registry: InstanceType<PromClient['Registry']>,
): {
  readonly counts: (name: string, help: string, labelNames: readonly string[]) => Counts;
  readonly seconds: (
    name: string,
    help: string,
    labelNames: string[],
  ) => InstanceType<PromClient['Histogram']>;
  readonly gauge: (name: string, help: string, read: () => number) => void;
} {
  const counts = (name: string, help: string, labelNames: readonly string[]): Counts => {
    const counted = new Counts();
    const collect = function (this: InstanceType<PromClient['Counter']>): void {
      this.reset();
      counted.forEach((labels, count) => {
        this.inc(Object.fromEntries(labelNames.map((label, at) => [label, labels[at] ?? ''])), count);
      });
    };
    registry.registerMetric(
      new prom.Counter({ name, help, labelNames: [...labelNames], collect, registers: [] }),
    );
    return counted;
  };
  const seconds = (name: string, help: string, labelNames: string[]): InstanceType<PromClient['Histogram']> =>
    new prom.Histogram({
      name,
      help,
      labelNames,
      buckets: BUCKETS,
      registers: [registry],
    });
  const gauge = (name: string, help: string, read: () => number): void => {
    const collect = function (this: { set(value: number): void }): void {
      this.set(read());
    };
    registry.registerMetric(new prom.Gauge({ name, help, collect, registers: [] }));
  };
  return { counts, seconds, gauge };
}

/** Metrics for Prometheus, collected from the diagnostics channels and from the client. */
export class Metrics {
  readonly registry: InstanceType<PromClient['Registry']>;
  readonly #requests: Counts;
  readonly #requestSeconds: InstanceType<PromClient['Histogram']>;
  readonly #leave: readonly (() => void)[];

  constructor(prom: PromClient, client: RobotsClient) {
    const registry = new prom.Registry();
    const { counts, seconds, gauge } = metricsIn(prom, registry);
    this.registry = registry;
    this.#requests = counts('canfetch_http_requests_total', 'Requests answered.', [
      'route',
      'method',
      'status',
    ]);
    this.#requestSeconds = seconds(
      'canfetch_http_request_duration_seconds',
      'Time to the end of a response.',
      ['route'],
    );
    const decisions = counts('canfetch_decisions_total', 'Decisions.', ['allowed', 'reason']);
    const fetches = counts('canfetch_fetches_total', 'Attempts to fetch a robots.txt.', ['outcome']);
    const fetchSeconds = seconds(
      'canfetch_fetch_duration_seconds',
      'Duration of attempts, redirects included.',
      ['outcome'],
    );
    const cache = counts('canfetch_cache_events_total', 'Cache events of origins: hits, misses, refreshes.', [
      'event',
    ]);
    const changes = counts('canfetch_policy_changes_total', 'Changes of the rules in force for an origin.', [
      'after',
    ]);
    const store = counts('canfetch_store_events_total', 'Failures and recoveries of the store.', ['type']);
    gauge('canfetch_origins', 'Origins in memory.', () => client.stats().origins);
    gauge('canfetch_memory_bytes', 'Estimated size of the origins in memory.', () => client.stats().bytes);
    gauge('canfetch_fetches_in_flight', 'Attempts in flight or queued.', () => client.stats().inFlight);

    this.#leave = [
      listen<DecisionMessage>('canfetch:decision', ({ decision: { allowed, reason } }) =>
        decisions.add(allowed ? 'true' : 'false', reason),
      ),
      listen<FetchMessage>(
        'canfetch:fetch',
        ({ outcome: { kind: outcome } = { kind: 'abandoned' }, durationMs }) => {
          fetches.add(outcome);
          fetchSeconds.observe({ outcome }, durationMs / 1_000);
        },
      ),
      listen<CacheMessage>('canfetch:cache', ({ event }) => cache.add(event)),
      listen<PolicyChangeMessage>('canfetch:policy-change', ({ after }) => changes.add(after)),
      listen<StoreEvent>('canfetch:store', ({ type }) => store.add(type)),
    ];
  }

  /** Counts a request. `route` is the path of a route, never that of the request, which would make unbounded labels. */
  answered(route: string, method: string, status: number, durationMs: number): void {
    this.#requests.add(route, method, String(status));
    this.#requestSeconds.observe({ route }, durationMs / 1_000);
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  text(): Promise<string> {
    return this.registry.metrics();
  }

  close(): void {
    for (const leave of this.#leave) leave();
  }
}

/** Subscribes to a channel. Returns a function that unsubscribes. */
function listen<Message>(name: string, listener: (message: Message) => void): () => void {
  const hear = (message: unknown): void => listener(Object(message));
  subscribe(name, hear);
  return () => void unsubscribe(name, hear);
}
