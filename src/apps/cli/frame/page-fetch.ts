import { omitUndefined } from '../../../core/base/index.ts';
import type { Dispatcher, Response } from 'undici';
import type { Purpose } from '../../../core/decision/index.ts';
import type { RobotsClient } from '../../../core/client/index.ts';
import { guardFetch } from '../../../guards/fetch/fetch.ts';

/** A guarded fetch: it rejects with the refusal of a disallowed URL or redirect. */
type PageFetch = (url: string, init: { headers: object; signal: AbortSignal }) => Promise<Response>;

/** The settings of a fetch for pages. */
interface PageFetchOptions {
  /** Must be the client's. */
  readonly addressPolicy: 'any' | 'public-only';
  /** The purpose for which the agent fetches pages. */
  readonly purpose: Purpose | undefined;
  /** A proxy for the requests, only with the policy `'any'`: a proxy chooses addresses by itself. */
  readonly dispatcher: Dispatcher | undefined;
}

/** A call that would wait longer is deferred, with the time to try again: hosts of AI agents give up after a minute. */
const MAX_DELAY_MS = 20_000;
/** Callers also limit the whole call. */
const TIMEOUT_MS = 30_000;

/** Makes the guarded fetch for pages. It uses undici's own, whose dispatchers check addresses on every Node. */
export async function makePageFetch(
  client: RobotsClient,
  { addressPolicy, purpose, dispatcher }: PageFetchOptions,
): Promise<PageFetch> {
  const { fetch } = await import('undici');
  const guarded = guardFetch(fetch, client, {
    addressPolicy,
    pacing: { maxDelayMs: MAX_DELAY_MS },
    timeoutMs: TIMEOUT_MS,
    ...omitUndefined({ purpose }),
  });
  return (url, init) => guarded(url, dispatcher === undefined ? init : { ...init, dispatcher });
}
