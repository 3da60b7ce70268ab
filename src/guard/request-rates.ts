import { requestRate, type RobotsFile } from '../rules/index.ts';

/** What files ask for by `Request-rate`, which few do: those that do not are read once only. */
export class RequestRates {
  private readonly agentsWithout = new WeakMap<RobotsFile, Set<string>>();

  /** The least time between two requests of `agent` at `now`, in milliseconds; 0 when the file names none. */
  delayMsOf(file: RobotsFile, agent: string, now: number): number {
    if (this.agentsWithout.get(file)?.has(agent) === true) return 0;
    if (requestRate(file, agent) !== undefined) return requestRate(file, agent, { atMs: now }) ?? 0;
    const agents = this.agentsWithout.get(file) ?? new Set();
    this.agentsWithout.set(file, agents.add(agent));
    return 0;
  }
}
