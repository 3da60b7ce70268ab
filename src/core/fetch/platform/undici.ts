/** The platform where undici is whole: Node and Deno. {@link Platform} says who imports this file. */
import { createRequire } from 'node:module';
import { configuredGlobalDispatcher } from '../../net/global-dispatcher.ts';
import { platform as platformWithFetch } from './fetch.ts';
import type { Platform } from './fetch.ts';

const nodeOrDeno: Platform = {
  transport: 'undici',
  describe() {
    const { version }: { readonly version: string } = createRequire(import.meta.url)('undici/package.json');
    return `undici ${version}`;
  },
  checksConnections: () => configuredGlobalDispatcher() === undefined,
  async openTransport(options) {
    const { undiciTransport } = await import('../undici-transport.ts');
    return undiciTransport(options);
  },
  async openPageAgents(lookup) {
    const { PageAgents } = await import('../../net/index.ts');
    return new PageAgents(lookup);
  },
};

/** Bun replaces undici by a part of it. A bundle made for Node may run there, without Bun's condition. */
export const platform: Platform = 'Bun' in globalThis ? platformWithFetch : nodeOrDeno;
