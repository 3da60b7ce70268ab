import { Agent, type Dispatcher } from 'undici';

/** What the recipe uses of browsertrix-crawler's `src/util/proxy.ts`: a dispatcher for each URL. */
const dispatchers = new Map<string, Agent>();

export const proxied: string[] = [];

export function getProxyDispatcher(url: string): Dispatcher {
  proxied.push(url);
  const { host } = new URL(url);
  const dispatcher = dispatchers.get(host) ?? new Agent();
  dispatchers.set(host, dispatcher);
  return dispatcher;
}

export async function closeProxies(): Promise<void> {
  await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.close()));
  dispatchers.clear();
}
