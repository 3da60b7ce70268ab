/** `canfetch/prometheus`: metrics of a client in a registry of `prom-client`. */
import { channel, tracingChannel } from 'node:diagnostics_channel';
import type { Registry } from 'prom-client';
import { invalid, isFunction } from '../../core/base/index.ts';
import type { CacheMessage, PolicyChangeMessage } from '../../core/cache/index.ts';
import type { AttemptMessage, RobotsClient, RobotsStats } from '../../core/client/index.ts';
import type {
  DecisionMessage,
  DeferralMessage,
  PauseMessage,
  RequestMessage,
  UsageRefusalMessage,
} from '../../core/decision/index.ts';
import type { StoreEvent } from '../../core/store/index.ts';
import { loadPromClient, MetricFactory } from './metric-factory.ts';

/** Metrics that are being counted. Made by {@link robotsMetrics}. */
export interface RobotsMetrics extends Disposable {
  /** Stops counting. The metrics stay in the registry. */
  close(): void;
}

/**
 * Counts what a client and its guards do, in a registry of `prom-client` (13 or later, an optional peer):
 *
 * | metric | labels |
 * |---|---|
 * | `canfetch_requests_total`: requests of guards that were sent | `status`, `none` for one that failed |
 * | `canfetch_refusals_total`: requests of guards that were refused | `reason` |
 * | `canfetch_deferrals_total`: requests that would have waited too long | `delay_from` |
 * | `canfetch_pauses_total`: pauses of origins | `delay_from`: `retry-after` or `back-off` |
 * | `canfetch_decisions_total` | `allowed`, `reason`, `state` |
 * | `canfetch_fetches_total`, `canfetch_fetch_duration_seconds`: attempts to fetch a robots.txt | `outcome` |
 * | `canfetch_cache_events_total`, `canfetch_policy_changes_total`, `canfetch_store_events_total` | `event`, `after`, `type` |
 * | `canfetch_origins`, `canfetch_memory_bytes`, `canfetch_fetches_in_flight` | |
 * | `canfetch_requests_waiting`, `canfetch_requests_in_flight`, `canfetch_origins_paused`: under `pacing` | |
 *
 * Metrics of the cache, of changes and of the store count all clients in the process. No label has a URL. While metrics
 * are counted, `permits` is `undefined`, as with every subscriber to decisions.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) if an argument is not a client or a registry, or
 *   `prom-client` is not installed.
 *
 * @example
 * ```ts
 * import { register } from 'prom-client';
 * import { robotsMetrics } from 'canfetch/prometheus';
 *
 * const metrics = robotsMetrics(robots, register);
 * ```
 */
export function robotsMetrics(client: RobotsClient, registry: Registry): RobotsMetrics {
  if (!isFunction(Reflect.get(Object(client), 'stats')))
    throw invalid('the client', 'a RobotsClient', client);
  if (!isFunction(Reflect.get(Object(registry), 'registerMetric'))) {
    throw invalid('the registry', 'a Registry of prom-client', registry);
  }
  return new ClientMetrics(client, new MetricFactory(loadPromClient(), registry));
}

class ClientMetrics implements RobotsMetrics {
  readonly #ends: (() => void)[] = [];

  constructor(client: RobotsClient, metrics: MetricFactory) {
    this.#countRequests(client, metrics);
    this.#countAttempts(client, metrics);
    this.#countProcess(metrics);
    metrics.gauge('canfetch_origins', 'Origins in memory.', () => client.stats().origins);
    metrics.gauge(
      'canfetch_memory_bytes',
      'Estimated size of the origins in memory.',
      () => client.stats().bytes,
    );
    metrics.gauge(
      'canfetch_fetches_in_flight',
      'Attempts in flight or queued.',
      () => client.stats().inFlight,
    );
    const pacing = (): RobotsStats['pacing'] => client.stats().pacing;
    metrics.gauge('canfetch_requests_waiting', 'Requests that wait for their turn.', () => pacing().waiting);
    metrics.gauge('canfetch_requests_in_flight', 'Paced requests in flight.', () => pacing().inFlight);
    metrics.gauge('canfetch_origins_paused', 'Origins in a pause.', () => pacing().paused);
  }

  close(): void {
    for (const end of this.#ends.splice(0)) end();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #countRequests(client: RobotsClient, metrics: MetricFactory): void {
    const of = <Message extends { readonly client: object }>(
      name: string,
      count: (message: Message) => void,
    ) =>
      this.#subscribe<Message>(name, (message) => {
        if (message.client === client) count(message);
      });
    const requests = metrics.counts('canfetch_requests_total', 'Requests that were sent.', ['status']);
    of<RequestMessage>('request', ({ status }) =>
      requests.add(status === undefined ? 'none' : String(status)),
    );
    const refusals = metrics.counts('canfetch_refusals_total', 'Requests that were refused.', ['reason']);
    of<UsageRefusalMessage>('usage', () => refusals.add('usage'));
    const decisions = metrics.counts('canfetch_decisions_total', 'Decisions.', [
      'allowed',
      'reason',
      'state',
    ]);
    of<DecisionMessage>('decision', ({ request, decision: { allowed, reason, state } }) => {
      decisions.add(allowed ? 'true' : 'false', reason, state);
      if (request === true && !allowed) refusals.add(reason);
    });
    const deferrals = metrics.counts('canfetch_deferrals_total', 'Requests that were deferred.', [
      'delay_from',
    ]);
    of<DeferralMessage>('deferred', ({ delayFrom }) => deferrals.add(delayFrom));
    const pauses = metrics.counts('canfetch_pauses_total', 'Pauses of origins.', ['delay_from']);
    of<PauseMessage>('pause', ({ delayFrom }) => pauses.add(delayFrom));
  }

  /** Attempts have a client on their tracing channel alone. */
  #countAttempts(client: RobotsClient, metrics: MetricFactory): void {
    const attempts = metrics.counts('canfetch_fetches_total', 'Attempts to fetch a robots.txt.', ['outcome']);
    const seconds = metrics.seconds(
      'canfetch_fetch_duration_seconds',
      'Duration of attempts, redirects included.',
      ['outcome'],
    );
    const startedAt = new WeakMap<object, number>();
    const { start, asyncEnd } = tracingChannel<unknown, object>('canfetch:attempt');
    const started = (message: unknown): void => void startedAt.set(Object(message), performance.now());
    const ended = (message: unknown): void => {
      const { client: of, result }: Partial<AttemptMessage> = Object(message);
      const from = startedAt.get(Object(message));
      if (of !== client || from === undefined) return;
      const outcome = result?.kind ?? 'abandoned';
      attempts.add(outcome);
      seconds.observe({ outcome }, (performance.now() - from) / 1_000);
    };
    start.subscribe(started);
    asyncEnd.subscribe(ended);
    this.#ends.push(() => {
      start.unsubscribe(started);
      asyncEnd.unsubscribe(ended);
    });
  }

  #countProcess(metrics: MetricFactory): void {
    const cache = metrics.counts('canfetch_cache_events_total', 'Hits, misses, refreshes and evictions.', [
      'event',
    ]);
    this.#subscribe<CacheMessage>('cache', ({ event }) => cache.add(event));
    const changes = metrics.counts(
      'canfetch_policy_changes_total',
      'Changes of the rules in force for an origin.',
      ['after'],
    );
    this.#subscribe<PolicyChangeMessage>('policy-change', ({ after }) => changes.add(after));
    const store = metrics.counts('canfetch_store_events_total', 'Failures and recoveries of the store.', [
      'type',
    ]);
    this.#subscribe<StoreEvent>('store', ({ type }) => store.add(type));
  }

  #subscribe<Message>(name: string, count: (message: Message) => void): void {
    const source = channel(`canfetch:${name}`);
    const onMessage = (message: unknown): void => count(Object(message));
    source.subscribe(onMessage);
    this.#ends.push(() => source.unsubscribe(onMessage));
  }
}
