import type { LookupFunction } from 'node:net';
import type { PageAgents } from '../../net/connectors.ts';
import type { Transport } from '../transport.ts';
import type { UndiciTransportOptions } from '../undici-transport.ts';

/**
 * What `import { platform } from '#platform'` gives: the transport of clients that are given neither `transport` nor
 * `dispatcher`. `package.json` maps `#platform` to a file: to `platform/undici.ts`, or under the conditions `workerd`,
 * `browser` and `bun` to `platform/fetch.ts`, so that bundles for these have neither undici nor modules of Node.
 */
export interface Platform {
  /**
   * `'undici'`: over connections of our own, whose addresses are checked. `'fetch'`: by the `fetch` of the platform,
   * which does not show them. `undefined`: there is neither.
   */
  readonly transport: 'undici' | 'fetch' | undefined;
  /** The transport in words: `undici 7.30.0`, `fetch`. */
  describe(): string;
  /** What is needed only where the platform's `fetch` is undici's; `undefined` elsewhere. */
  readonly undici: UndiciParts | undefined;
}

/** What guards and transports do about undici. Each part is left out of bundles for other platforms. */
interface UndiciParts {
  /**
   * Whether the address of every connection can be checked now. It cannot if a global dispatcher was set.
   */
  checksConnections(): boolean;
  /** The transport for robots.txt. */
  openTransport(options: UndiciTransportOptions): Promise<Transport>;
  /** The agents for the page requests of `guardFetch`. */
  openPageAgents(lookup: LookupFunction | undefined): Promise<PageAgents>;
  surviveManyCodings(): void;
  mockHint(code: string | undefined, url: string): string | undefined;
}

/** The platform without undici: Bun, Workers, browsers. Requests are sent by its own `fetch`. */
export const platform: Platform = {
  transport: typeof fetch === 'function' ? 'fetch' : undefined,
  describe: () => 'fetch',
  undici: undefined,
};
