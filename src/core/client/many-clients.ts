import { quote, warnOnce } from '../base/index.ts';
import type { Agent } from '../decision/agent-tokens.ts';

const MANY = 10;
const WITHIN_MS = 60_000;
/** Agents that are counted. A program has one or two. */
const MAX_AGENTS = 100;

/** By agent the times at which its last clients were made, in ms of the process. */
const made = new Map<string, number[]>();

/**
 * Counts the clients of an agent that share nothing. A client for each URL, job or worker asks for robots.txt again, and none
 * waits for the requests of the others.
 */
export function countClient(agent: Agent): void {
  const name = String(agent);
  if (made.size >= MAX_AGENTS) made.clear();
  const times = made.get(name) ?? [];
  made.set(name, times);
  const now = performance.now();
  times.push(now);
  if (times.length > MANY) times.shift();
  if (times.length < MANY || now - times[0]! > WITHIN_MS) return;
  warnOnce(
    `${MANY} clients of ${quote(name)} were made within a minute, and each keeps a pace of its own: make one, ` +
      '`const robots = new RobotsClient({ agent })`, for the whole process, or give each the same ' +
      "`store: sqliteStore({ path: 'robots.sqlite' })` of canfetch/sqlite",
    'CANFETCH_MANY_CLIENTS',
  );
  made.clear();
}
