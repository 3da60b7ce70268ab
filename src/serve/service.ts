import type { RobotsClient } from '../client/index.ts';
import type { ProfileName } from '../lifecycle/index.ts';
import type { Metrics } from './metrics.ts';

/** How long the service bears with those who ask, and how many of them. */
export interface ServiceLimits {
  /** A stream without a whole question, or an answer of which nobody reads anything, is ended after so long. */
  readonly stalledMs: number;
  /** Answers of `/v1/explain` and `/v1/policy` that are being made or have not been read, at a time. */
  readonly explanations: number;
}

export const DEFAULT_LIMITS: ServiceLimits = { stalledMs: 15_000, explanations: 16 };

/** What answers need. */
export interface Service {
  readonly client: RobotsClient;
  readonly profile: ProfileName;
  /** Who asks when a request names nobody, in order of preference; the client's own name when empty. */
  readonly agents: readonly string[];
  /** Absent without prom-client. */
  readonly metrics: Metrics | undefined;
  /** Aborted when the service is to end. */
  readonly stopping: AbortSignal;
  /** Streams of questions under way. */
  streams: number;
  /** Answers of `/v1/explain` and `/v1/policy` that are being made or have not been read. */
  explanations: number;
  readonly limits: ServiceLimits;
}
