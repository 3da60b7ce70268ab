import { createRequire } from 'node:module';
import type { Counter, Histogram, Registry } from 'prom-client';
import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import { loadPeer } from '../../core/base/optional-peer.ts';

/** The part of the module `prom-client` that metrics use. */
export type PromClient = Pick<typeof import('prom-client'), 'Registry' | 'Counter' | 'Gauge' | 'Histogram'>;

/** Histogram buckets in seconds, up to thrice the default deadline. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Makes metrics in a registry. */
export class MetricFactory {
  readonly #prom: PromClient;
  readonly #registry: Registry;

  constructor(prom: PromClient, registry: Registry) {
    this.#prom = prom;
    this.#registry = registry;
  }

  counts(name: string, help: string, labelNames: readonly string[]): Counts {
    const counted = new Counts();
    const collect = function (this: Counter): void {
      this.reset();
      counted.forEach((labels, count) => {
        this.inc(Object.fromEntries(labelNames.map((label, at) => [label, labels[at] ?? ''])), count);
      });
    };
    this.#registry.registerMetric(
      new this.#prom.Counter({ name, help, labelNames: [...labelNames], collect, registers: [] }),
    );
    return counted;
  }

  seconds(name: string, help: string, labelNames: string[]): Histogram {
    return new this.#prom.Histogram({
      name,
      help,
      labelNames,
      buckets: BUCKETS,
      registers: [this.#registry],
    });
  }

  gauge(name: string, help: string, read: () => number): void {
    const collect = function (this: { set(value: number): void }): void {
      this.set(read());
    };
    this.#registry.registerMetric(new this.#prom.Gauge({ name, help, collect, registers: [] }));
  }
}

/** Counts events by up to three labels. Unlike labels of prom-client, counting allocates no object. */
export class Counts {
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

/**
 * Loads the optional peer when it is needed.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function loadPromClient(): PromClient {
  const load = (): PromClient => createRequire(import.meta.url)('prom-client');
  const prom = loadPeer('prom-client', 'canfetch/prometheus', load);
  assertServed(prom);
  return prom;
}

/**
 * Before version 13, metrics are not collected when they are read, so that all would stay 0.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertServed(prom: Pick<PromClient, 'Registry'>): void {
  if (new prom.Registry().metrics() instanceof Promise) return;
  throw new RobotsInvalidOptionsError(
    'Expected prom-client 13 or later for the metrics, got an earlier one; update the package `prom-client`',
  );
}
