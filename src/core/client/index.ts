/**
 * `RobotsClient`: makes decisions with the modules below, and publishes diagnostics. It must not import guards, stores,
 * extras or apps. Nothing here loads undici before the first attempt, which loads `core/fetch/`.
 */
export type { PrefetchOptions, PrefetchResult } from './prefetch.ts';
export type { CheckMessage } from './client-engine.ts';
export type { PermitMessage } from './page-pacing.ts';
export { canFetch, RobotsClient } from './robots-client.ts';
export type * from './options.ts';
