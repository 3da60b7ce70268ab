import type { RobotsClient } from '../client/index.ts';
import type { ProfileName } from '../lifecycle/index.ts';
import type { Metrics } from './metrics.ts';

/** Limits that protect the service from slow or numerous requests. */
export interface ServiceLimits {
  /** Time in milliseconds after which a stream without a complete question, or an unread response, is ended. */
  readonly stalledMs: number;
  /** Time in milliseconds for the header section of a request to arrive, from the first octet or the connection on. */
  readonly headersMs: number;
  /** Maximum number of responses of `/v1/explain`, `/v1/diff` and `/v1/policy` that are in progress or unread. */
  readonly explanations: number;
}

export const DEFAULT_LIMITS: ServiceLimits = { stalledMs: 15_000, headersMs: 10_000, explanations: 16 };

/** The shared state that handlers use. */
export interface Service {
  readonly client: RobotsClient;
  readonly profile: ProfileName;
  /** Agents for requests that name none, in order of preference. When empty, the client uses its own name. */
  readonly agents: readonly string[];
  /** `undefined` when prom-client is not installed. */
  readonly metrics: Metrics | undefined;
  /** Aborts when the service is to end. */
  readonly stopping: AbortSignal;
  /** Number of streams of questions in progress. */
  streams: number;
  /** Number of responses of `/v1/explain`, `/v1/diff` and `/v1/policy` that are in progress or unread. */
  explanations: number;
  readonly limits: ServiceLimits;
}
