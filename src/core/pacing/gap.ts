import type { Clock } from '../base/index.ts';
import type { Decision } from '../decision/index.ts';
import { requestRate, type RobotsFile } from '../rules/index.ts';
import type { Pace } from './options.ts';

/** The time between the starts of two requests to an origin, and what sets it. */
export interface Gap {
  readonly delayMs: number;
  readonly delayFrom: 'crawl-delay' | 'request-rate' | 'default-delay' | 'min-delay' | 'latency';
}

/** The longest delay that the site states, 0 included; else the default. Never under `minDelayMs`. */
export function gapOf(
  { crawlDelayMs }: Pick<Decision, 'crawlDelayMs'>,
  requestRateMs: number | undefined,
  { defaultDelayMs, minDelayMs }: Pick<Pace, 'defaultDelayMs' | 'minDelayMs'>,
): Gap {
  const gap = statedGap(crawlDelayMs, requestRateMs) ?? {
    delayMs: defaultDelayMs,
    delayFrom: 'default-delay',
  };
  return gap.delayMs < minDelayMs ? { delayMs: minDelayMs, delayFrom: 'min-delay' } : gap;
}

function statedGap(crawlDelayMs: number | undefined, requestRateMs: number | undefined): Gap | undefined {
  if (requestRateMs !== undefined && requestRateMs > (crawlDelayMs ?? -1)) {
    return { delayMs: requestRateMs, delayFrom: 'request-rate' };
  }
  return crawlDelayMs === undefined ? undefined : { delayMs: crawlDelayMs, delayFrom: 'crawl-delay' };
}

/** The delays that files ask for with `Request-rate`. Few files have that line; those without are read only once. */
export class RequestRates {
  readonly #agentsWithout = new WeakMap<RobotsFile, Set<string>>();

  /** The least time between two requests of `agent` now, in milliseconds; `undefined` when none is stated. */
  delayMsOf(file: RobotsFile, agent: string, clock: Clock): number | undefined {
    if (this.#agentsWithout.get(file)?.has(agent) === true) return undefined;
    if (requestRate(file, agent) !== undefined) return requestRate(file, agent, { atMs: clock.now() });
    const agents = this.#agentsWithout.get(file) ?? new Set();
    this.#agentsWithout.set(file, agents.add(agent));
    return undefined;
  }
}
