import type { RobotsClient, RobotsClientOptions } from '../../src/index.ts';
import { afterEachTest } from './after-each-test.ts';
import { testClient, type VirtualClock } from './client.ts';
import { type Answer, type Site, startSite } from './site.ts';

const resources: (AsyncDisposable | Disposable)[] = [];

afterEachTest(async () => {
  for (const each of resources.splice(0))
    await (Symbol.asyncDispose in each ? each[Symbol.asyncDispose]() : each[Symbol.dispose]());
});

/** Closes `resource` after the test. Not for tests that run concurrently, because they would close it for one another. */
export function opened<Resource extends AsyncDisposable | Disposable>(resource: Resource): Resource {
  resources.push(resource);
  return resource;
}

/** A site that is closed after the test. */
export async function openedSite(plan: Parameters<typeof startSite>[0]): Promise<Site> {
  return opened(await startSite(plan));
}

/** A client that is closed after the test, with its clock. */
export function openedClient(options?: RobotsClientOptions): { robots: RobotsClient; clock: VirtualClock } {
  const { client, clock } = testClient(options);
  return { robots: opened(client), clock };
}

/** A site that answers with this robots.txt, and a client. */
export async function answering(
  robotsTxt: Answer | readonly Answer[],
  options?: RobotsClientOptions,
): Promise<ReturnType<typeof openedClient> & { readonly server: Site }> {
  return { ...openedClient(options), server: await openedSite({ '/robots.txt': robotsTxt }) };
}
