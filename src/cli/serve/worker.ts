import cluster from 'node:cluster';
import type { FromPrimary, FromWorker, PromRegistry } from '../../serve/index.ts';

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
