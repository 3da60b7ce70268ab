import { platform } from '#platform';
import { Lazy, RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { AddressPolicy } from '../../core/net/address-policy.ts';
import type { PageAgents } from '../../core/net/connectors.ts';
import type { GuardOptions } from '../shared/options.ts';
import type { Connections, PageHops } from './page-hops.ts';
import type { Call } from './request.ts';

/** The address checks for the hops of a call. They are loaded when first needed, and undici with their agents. */
export function addressChecks({
  addressPolicy = 'any',
  lookup,
}: Pick<GuardOptions, 'addressPolicy' | 'lookup'>): ((call: Call) => Promise<PageHops>) | undefined {
  if (addressPolicy === 'any') return undefined;
  if (platform.transport !== 'undici') assertUrlsSuffice(addressPolicy, lookup);
  const parts = new Lazy(() =>
    Promise.all([import('./page-hops.ts'), platform.undici?.openPageAgents(lookup)]),
  );
  return async ({ init }) => {
    const [{ PageHops }, agents] = await parts.load();
    return new PageHops(addressPolicy, connectionsOf(Reflect.get(init, 'dispatcher'), agents));
  };
}

/**
 * Refuses policies that cannot be enforced over a `fetch` that takes no dispatcher.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
function assertUrlsSuffice(addressPolicy: AddressPolicy, lookup: unknown): void {
  if (addressPolicy === 'public-only') {
    throw new RobotsInvalidOptionsError(
      'Expected `addressPolicy` to be "no-public-to-private" or "any", got "public-only": the fetch of this platform does ' +
        'not show which addresses it connects to. Guard a fetch that connects to public addresses only',
    );
  }
  if (lookup === undefined) return;
  throw new RobotsInvalidOptionsError(
    'Expected no `lookup`: the fetch of this platform looks up names by itself',
  );
}

/** The connections of a request. @param dispatcher The one in the init of the request. */
function connectionsOf(dispatcher: unknown, agents: PageAgents | undefined): Connections {
  if ((dispatcher !== undefined && dispatcher !== null) || agents === undefined) return 'unseen';
  return agents.hasGlobalDispatcher ? 'global' : agents;
}
