/**
 * `RobotsClient`: leads a question through the rooms below, and publishes diagnostics. It must not import `guard/`,
 * `serve/` or `cli/`. Nothing here loads undici before the first attempt, which loads `robots-requests.ts`.
 */
export {
  type ReportedOrigin,
  type ReportedRefusal,
  type AccountedPause,
  type AccountedSuspect,
  type AccountTotals,
  type RobotsAccount,
  crawlReport,
  type RobotsAccountOptions,
} from '../../extras/report/crawl-report.ts';
export type { AttemptMessage } from './attempts.ts';
export { canFetch } from './can-fetch.ts';
export type { OriginOverride, RobotsClientOptions } from './options.ts';
export type { PrefetchOptions, PrefetchResult } from './prefetch.ts';
export type { CheckMessage } from './questions.ts';
export { RobotsClient } from './robots-client.ts';
export type { FetchMessage } from './robots-requests.ts';
export type {
  CheckOptions,
  PolicyOptions,
  PurposeOptions,
  ReserveOptions,
  RobotsStats,
  SiteSignal,
} from './types.ts';
