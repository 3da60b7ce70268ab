import type { Decision } from '../decision.ts';
import type { Agent } from '../options.ts';
import { refusal } from './refusal.ts';

/** The part of a `RobotsClient` that guards use. */
export interface GuardClient {
  peek(url: string | URL, agent?: Agent): Decision | undefined;
  check(url: string | URL, agent?: Agent, options?: { readonly signal?: AbortSignal }): Promise<Decision>;
  report(url: string | URL, signal: { readonly reachable: boolean }): void;
}

/** Whether a request for `url` is crawling at all: `data:` and `blob:` URLs reach no site. */
export function isCrawling(url: URL): boolean {
  return url.protocol === 'http:' || url.protocol === 'https:';
}

/**
 * Returns when `url` may be requested.
 *
 * @throws RobotsDisallowedError, RobotsUnreachableError, or the reason of an aborted signal.
 */
export async function admit(
  client: GuardClient,
  url: URL,
  agent: Agent | undefined,
  signal: AbortSignal | undefined,
): Promise<void> {
  signal?.throwIfAborted();
  const decision =
    client.peek(url.href, agent) ??
    (await client.check(url.href, agent, signal === undefined ? {} : { signal }));
  if (!decision.allowed) throw refusal(decision);
}

/** Tells the client what a page request showed of the site's availability; never gets in the way. */
export function reportSite(client: GuardClient, url: URL, reachable: boolean): void {
  try {
    client.report(url.href, { reachable });
  } catch {
    // A client closed meanwhile has no use for it.
  }
}
