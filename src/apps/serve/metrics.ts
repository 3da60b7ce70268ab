import type { Histogram, Registry } from 'prom-client';
import type { RobotsClient } from '../../core/client/index.ts';
import {
  assertServed,
  type Counts,
  MetricFactory,
  type PromClient,
} from '../../extras/prometheus/metric-factory.ts';
import { robotsMetrics } from '../../extras/prometheus/prometheus.ts';

export type { PromClient } from '../../extras/prometheus/metric-factory.ts';

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

/** The metrics of the service and of its client. */
export class Metrics {
  readonly registry: Registry;
  readonly #requests: Counts;
  readonly #requestSeconds: Histogram;
  readonly #ofClient: Disposable;

  constructor(prom: PromClient, client: RobotsClient) {
    this.registry = new prom.Registry();
    const metrics = new MetricFactory(prom, this.registry);
    this.#requests = metrics.counts('canfetch_http_requests_total', 'Requests answered.', [
      'route',
      'method',
      'status',
    ]);
    this.#requestSeconds = metrics.seconds(
      'canfetch_http_request_duration_seconds',
      'Time to the end of a response.',
      ['route'],
    );
    this.#ofClient = robotsMetrics(client, this.registry);
  }

  /** Counts a request. `route` is the path of a route. The path of the request would make unbounded labels. */
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
    this.#ofClient[Symbol.dispose]();
  }
}
