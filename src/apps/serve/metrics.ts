import type { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { RobotsClient } from '../../core/client/index.ts';
import type { EvidenceFile } from '../../extras/evidence/index.ts';
import { BUCKETS, type PromClient } from '../../extras/prometheus/prom-client.ts';
import { robotsMetrics } from '../../extras/prometheus/prometheus.ts';

export type { PromClient } from '../../extras/prometheus/prom-client.ts';

/** Loads `prom-client`, an optional peer dependency; `undefined` when it is not installed. */
export async function loadPromClient(): Promise<PromClient | undefined> {
  try {
    return (await import('prom-client')).default;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The metrics of the service and of its client. */
export class Metrics {
  readonly registry: Registry;
  readonly #requests: Counter;
  readonly #requestSeconds: Histogram;
  readonly #ofClient: Disposable;

  /** @param evidence The file whose lost entries are counted. */
  constructor(prom: PromClient, client: RobotsClient, evidence?: Pick<EvidenceFile, 'lost'>) {
    this.registry = new prom.Registry();
    const registers = [this.registry];
    this.#requests = new prom.Counter({
      name: 'canfetch_http_requests_total',
      help: 'Requests answered.',
      labelNames: ['route', 'method', 'status'],
      registers,
    });
    this.#requestSeconds = new prom.Histogram({
      name: 'canfetch_http_request_duration_seconds',
      help: 'Time to the end of a response.',
      labelNames: ['route'],
      buckets: BUCKETS,
      registers,
    });
    if (evidence !== undefined) {
      const lost: Gauge = new prom.Gauge({
        name: 'canfetch_evidence_lost_entries',
        help: 'Entries of evidence that could not be written.',
        registers,
        collect: () => lost.set(evidence.lost),
      });
    }
    this.#ofClient = robotsMetrics(client, this.registry);
  }

  /** Counts a request. `route` is the path of a route. The path of the request would make unbounded labels. */
  answered(route: string, method: string, status: number, durationMs: number): void {
    this.#requests.inc({ route, method, status });
    this.#requestSeconds.observe({ route }, durationMs / 1_000);
  }

  close(): void {
    this.#ofClient[Symbol.dispose]();
  }
}
