/** The platform without undici: Bun, Workers, browsers. Requests are sent by its own `fetch`. */
import { fetchTransport } from '../fetch-transport.ts';
import type { Platform } from './platform.ts';

export const platform: Platform = {
  transport: typeof fetch === 'function' ? 'fetch' : undefined,
  describe: () => 'fetch',
  checksConnections: () => false,
  // The global is read at each request: somebody may replace it.
  openTransport: async () => fetchTransport((url, init) => fetch(url, init)),
  openPageAgents: async () => undefined,
};
