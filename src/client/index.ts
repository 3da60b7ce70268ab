/**
 * `RobotsClient`: leads a question through the rooms below, and tells who listens. It must not import `guard/`, `serve/`
 * or `cli/`. `fetch/`, and undici with it, is loaded by `robots-requests.ts` alone, at the first attempt.
 */
export { canFetch } from './can-fetch.ts';
export type { DecisionMessage, FetchMessage } from './diagnostics.ts';
export type { OriginOverride, RobotsClientOptions } from './options.ts';
export type { PrefetchOptions, PrefetchResult } from './prefetch.ts';
export { RobotsClient } from './robots-client.ts';
export type { CheckOptions, PolicyOptions, ReserveOptions, RobotsStats, SiteSignal } from './types.ts';
