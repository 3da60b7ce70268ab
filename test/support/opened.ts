import type { RobotsClient, RobotsClientOptions } from '../../src/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { afterEachTest } from './after-each-test.ts';
import { testClient, type VirtualClock } from './client.ts';
import { type Answer, type Site, startSite } from './site.ts';

type Closable = AsyncDisposable | Disposable;

const resources: Closable[] = [];
const close = (each: Closable): PromiseLike<void> | void =>
  Symbol.asyncDispose in each ? each[Symbol.asyncDispose]() : each[Symbol.dispose]();

afterEachTest(async () => {
  for (const each of resources.splice(0)) await close(each);
});

/** Closes `resource` after the test. Not for tests that run concurrently, because they would close it for one another. */
export function opened<Resource extends Closable>(resource: Resource): Resource {
  resources.push(resource);
  return resource;
}

/** Closes `resource` after all tests of the file, or of the `describe`, that calls this outside of its tests. */
export function openedForAll<Resource extends Closable>(resource: Resource): Resource {
  afterAll(() => close(resource));
  return resource;
}

/** A site for all tests. */
export async function siteForAll(plan: Parameters<typeof startSite>[0]): Promise<Site> {
  return openedForAll(await startSite(plan));
}

function newFolder(keep: <Resource extends Closable>(resource: Resource) => Resource): string {
  const path = mkdtempSync(join(tmpdir(), 'canfetch-test-'));
  keep({ [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) });
  return path;
}

/** A new folder, which is removed after the test. */
export const openedFolder = (): string => newFolder(opened);

/** One for all tests. */
export const folderForAll = (): string => newFolder(openedForAll);

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
