/** `canfetch/prometheus`: metrics of a client in a registry of `prom-client`. */
import type { Counter, Gauge, Registry } from 'prom-client';
import { invalid, isFunction, listenTo } from '../../core/base/index.ts';
import type { CacheMessage, PolicyChangeMessage } from '../../core/cache/cache-events.ts';
import type { RobotsClient, RobotsStats } from '../../core/client/index.ts';
import type { FetchMessage } from '../../core/fetch/index.ts';
import type {
  DecisionMessage,
  DeferralMessage,
  PauseMessage,
  RequestMessage,
} from '../../core/decision/index.ts';
import type { StoreMessage } from '../../core/store/store.ts';
import { BUCKETS, loadPromClient } from './prom-client.ts';

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
 * All are of this client alone: another client of the process needs a registry of its own. No label has a URL. While
 * metrics are counted, `permits` is `undefined`, as with every subscriber to decisions.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) if an argument is not a client or a registry, or
 *   `prom-client` is not installed. What `prom-client` throws when the registry has the metrics of a client already.
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
  assertUsable(client, registry);
  const { Counter, Gauge, Histogram } = loadPromClient();
  const registers = [registry];
  const counter = (name: string, help: string, ...labelNames: string[]): Counter =>
    new Counter({ name, help, labelNames, registers });
  const requests = counter('canfetch_requests_total', 'Requests that were sent.', 'status');
  const refusals = counter('canfetch_refusals_total', 'Requests that were refused.', 'reason');
  const decisions = counter('canfetch_decisions_total', 'Decisions.', 'allowed', 'reason', 'state');
  const deferrals = counter('canfetch_deferrals_total', 'Requests that were deferred.', 'delay_from');
  const pauses = counter('canfetch_pauses_total', 'Pauses of origins.', 'delay_from');
  const attempts = counter('canfetch_fetches_total', 'Attempts to fetch a robots.txt.', 'outcome');
  const seconds = new Histogram({
    name: 'canfetch_fetch_duration_seconds',
    help: 'Duration of attempts, redirects included.',
    labelNames: ['outcome'],
    buckets: BUCKETS,
    registers,
  });
  const cache = counter('canfetch_cache_events_total', 'Hits, misses, refreshes and evictions.', 'event');
  const changes = counter('canfetch_policy_changes_total', 'Changes of the rules of an origin.', 'after');
  const store = counter('canfetch_store_events_total', 'Failures and recoveries of the store.', 'type');
  const stop = listenTo(client, {
    'canfetch:request': ({ status }: RequestMessage) => requests.inc({ status: status ?? 'none' }),
    'canfetch:usage': () => refusals.inc({ reason: 'usage' }),
    'canfetch:decision': ({ request, decision: { allowed, reason, state } }: DecisionMessage) => {
      decisions.inc({ allowed: String(allowed), reason, state });
      if (request === true && !allowed) refusals.inc({ reason });
    },
    'canfetch:deferred': ({ delayFrom }: DeferralMessage) => deferrals.inc({ delay_from: delayFrom }),
    'canfetch:pause': ({ delayFrom }: PauseMessage) => pauses.inc({ delay_from: delayFrom }),
    'canfetch:fetch': ({ outcome: ended, durationMs }: FetchMessage) => {
      const outcome = ended?.kind ?? 'abandoned';
      attempts.inc({ outcome });
      // The user's clock may be set back.
      seconds.observe({ outcome }, Math.max(durationMs, 0) / 1_000);
    },
    'canfetch:cache': ({ event }: CacheMessage) => cache.inc({ event }),
    'canfetch:policy-change': ({ after }: PolicyChangeMessage) => changes.inc({ after }),
    'canfetch:store': ({ type }: StoreMessage) => store.inc({ type }),
  });

  for (const [name, help, read] of GAUGES) {
    const collect = function (this: Gauge): void {
      this.set(read(client.stats()));
    };
    registry.registerMetric(new Gauge({ name, help, collect, registers: [] }));
  }

  const close = (): void => stop?.();
  return { close, [Symbol.dispose]: close };
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
function assertUsable(client: RobotsClient, registry: Registry): void {
  if (!isFunction(Reflect.get(Object(client), 'stats')))
    throw invalid('the client', 'a RobotsClient', client);
  if (!isFunction(Reflect.get(Object(registry), 'registerMetric'))) {
    throw invalid('the registry', 'a Registry of prom-client', registry);
  }
}

const GAUGES: readonly (readonly [name: string, help: string, read: (stats: RobotsStats) => number])[] = [
  ['canfetch_origins', 'Origins in memory.', ({ origins }) => origins],
  ['canfetch_memory_bytes', 'Estimated size of the origins in memory.', ({ bytes }) => bytes],
  ['canfetch_fetches_in_flight', 'Attempts in flight or queued.', ({ inFlight }) => inFlight],
  ['canfetch_requests_waiting', 'Requests that wait for their turn.', ({ pacing }) => pacing.waiting],
  ['canfetch_requests_in_flight', 'Paced requests in flight.', ({ pacing }) => pacing.inFlight],
  ['canfetch_origins_paused', 'Origins in a pause.', ({ pacing }) => pacing.paused],
];
