/** The platform without undici: Bun, Workers, browsers. Requests are sent by its own `fetch`. */
import type { Platform } from './platform.ts';

export const platform: Platform = {
  transport: typeof fetch === 'function' ? 'fetch' : undefined,
  describe: () => 'fetch',
  checksConnections: () => false,
  async openTransport() {
    const { fetchTransport } = await import('../fetch-transport.ts');
    // The global is read at each request: somebody may replace it.
    return fetchTransport((url, init) => fetch(url, init));
  },
  openPageAgents: async () => undefined,
};
