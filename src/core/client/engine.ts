import { VERSION } from '../base/index.ts';
import type { ClientEngine } from './client-engine.ts';

/**
 * The property of a client that has its engine. A registered symbol, because a program may load the package twice: the
 * client by `import`, the guard by `require`.
 */
export const ENGINE: unique symbol = Symbol.for('canfetch.engine');

/**
 * The engine of a client. `undefined` for a client of another class, and for one of another version of this package,
 * whose engine may differ: ask those by their public methods.
 */
export function engineOf(client: { readonly [ENGINE]: ClientEngine }): ClientEngine;
export function engineOf(client: object): ClientEngine | undefined;
export function engineOf(client: { readonly [ENGINE]?: ClientEngine }): ClientEngine | undefined {
  const engine = client[ENGINE];
  return engine?.version === VERSION ? engine : undefined;
}
