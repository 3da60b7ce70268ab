import { createRequire } from 'node:module';
import { loadPeer } from '../../core/base/index.ts';

/** The part of the module `prom-client` that metrics use. */
export type PromClient = Pick<typeof import('prom-client'), 'Registry' | 'Counter' | 'Gauge' | 'Histogram'>;

/** Histogram buckets in seconds, up to thrice the default deadline. */
export const BUCKETS: number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Loads the optional peer when it is needed.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function loadPromClient(): PromClient {
  const load = (): PromClient => createRequire(import.meta.url)('prom-client');
  return loadPeer('prom-client', 'canfetch/prometheus', load);
}
