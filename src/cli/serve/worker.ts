import cluster from 'node:cluster';
import type { PromRegistry } from '../../serve/index.ts';

/** Messages between the processes of one service: the primary, which has no port, and its workers. */

/** From a worker to the primary. */
export type FromWorker =
  /** The worker serves at `url`. */
  | { readonly kind: 'serves'; readonly url: string }
  /** Somebody has asked the worker for the metrics of all. */
  | { readonly kind: 'metrics-wanted'; readonly question: number }
  /** The metrics of the worker, as `prom-client` writes them in JSON. */
  | { readonly kind: 'metrics'; readonly asked: number; readonly metrics: unknown };

/** From the primary to a worker. */
export type FromPrimary =
  | { readonly kind: 'metrics-asked'; readonly asked: number }
  | { readonly kind: 'all-metrics'; readonly question: number; readonly all: readonly unknown[] };

/** A worker's connection to its primary. */
export class PrimaryLink {
  /** The own metrics, for the primary; set when the worker has some. */
  metrics: PromRegistry | undefined;
  readonly #waiting = new Map<number, (all: readonly unknown[]) => void>();
  #questions = 0;

  readonly #hear = (message: FromPrimary): void => {
    if (message.kind === 'all-metrics') this.#waiting.get(message.question)?.(message.all);
    else if (message.kind === 'metrics-asked') void this.#sendMetrics(message.asked);
  };

  constructor() {
    process.on('message', this.#hear);
  }

  serves(url: string): void {
    send({ kind: 'serves', url });
  }

  /** The metrics of all workers. */
  allMetrics(): Promise<readonly unknown[]> {
    const question = ++this.#questions;
    return new Promise((resolve) => {
      this.#waiting.set(question, (all) => {
        this.#waiting.delete(question);
        resolve(all);
      });
      send({ kind: 'metrics-wanted', question });
    });
  }

  /** Lets the process end. */
  close(): void {
    process.off('message', this.#hear);
    if (process.connected) cluster.worker?.disconnect();
  }

  async #sendMetrics(asked: number): Promise<void> {
    send({ kind: 'metrics', asked, metrics: await this.metrics?.getMetricsAsJSON() });
  }
}

function send(message: FromWorker): void {
  if (process.connected) process.send?.(message);
}
