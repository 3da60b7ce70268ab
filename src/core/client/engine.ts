import { invalid, RobotsInvalidOptionsError, VERSION } from '../base/index.ts';
import type { ClientEngine } from './client-engine.ts';

/**
 * The property of a client that has its engine. A registered symbol, because a program may load the package twice: the
 * client by `import`, the guard by `require`.
 */
export const ENGINE: unique symbol = Symbol.for('canfetch.engine');

/**
 * The engine of a `RobotsClient`.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for any other object, and for a client of another
 *   version of this package, whose engine may differ.
 */
export function engineOf(client: { readonly [ENGINE]: ClientEngine }): ClientEngine {
  const { [ENGINE]: engine }: { readonly [ENGINE]?: ClientEngine } = Object(client);
  if (engine === undefined) throw invalid('the client', 'a RobotsClient', client);
  if (engine.version === VERSION) return engine;
  throw new RobotsInvalidOptionsError(
    `Expected the client to be a RobotsClient of canfetch ${VERSION}, as this is, got one of canfetch ${engine.version}; ` +
      'install one version for both',
  );
}
