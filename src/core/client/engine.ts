import { VERSION } from '../base/index.ts';
import type { Decision, DecisionContext, Purpose, SentRequest } from '../decision/index.ts';
import type { Pace, RequestPermit } from '../pacing/index.ts';
import type { Agent } from '../rules/agent-tokens.ts';
import type { LocatedUrl } from '../url/index.ts';

/** Options of {@link DecisionEngine.decide}. */
export interface DecideOptions {
  /** Rejects this call only, with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Keeps the file of the decision, so that `usageOf` finds it even if memory has dropped the origin. */
  readonly purpose?: Purpose;
}

/**
 * What guards and applications ask a client for. Three methods ask:
 *
 * | method                               | result   | I/O                                               |
 * | ------------------------------------ | -------- | ------------------------------------------------- |
 * | {@link DecisionEngine.allows}           | boolean  | none; `undefined` when memory cannot decide       |
 * | {@link DecisionEngine.decideFromMemory} | decision | none; `undefined` when robots.txt must be fetched |
 * | {@link DecisionEngine.decide}           | decision | fetches robots.txt when it must                   |
 *
 * All are silent: the caller publishes a decision with {@link DecisionEngine.publishDecision}, once for each request,
 * even if it was decided again. The methods of `RobotsClient` for users publish by themselves.
 */
export interface DecisionEngine {
  /** The version of the package that made the client. See {@link engineOf}. */
  readonly version: string;
  /** Whether decisions are written down as evidence. Then each needs its reasons, so {@link allows} does not suffice. */
  readonly isRecording: boolean;
  /**
   * Whether fresh rules in memory allow `url`. Allocates nothing.
   *
   * @param located Filled with the origin and the target of `url`, for callers that need them.
   * @returns `undefined` when memory has no fresh rules, a refresh is due, the origin is overridden, or a diagnostics
   *   channel about decisions has a subscriber.
   * @throws the errors of `RobotsClient.canFetch`.
   */
  allows(url: string | URL, agent?: Agent, located?: LocatedUrl): boolean | undefined;
  /** Counts a used result of {@link allows}. The other methods count by themselves. */
  countHit(): void;
  /**
   * The decision from memory alone; `undefined` when robots.txt must be fetched.
   *
   * @param mayRefresh Whether a background refresh that is due is started. Default: false.
   * @throws the errors of `RobotsClient.canFetch`.
   */
  decideFromMemory(url: string | URL, agent?: Agent, mayRefresh?: boolean): Decision | undefined;
  /**
   * The decision. A promise only when robots.txt must be fetched: otherwise requests start synchronously. Starts a
   * background refresh that is due.
   *
   * @throws the errors of `RobotsClient.canFetch`; synchronously when nothing has to be fetched.
   */
  decide(url: string | URL, agent?: Agent, options?: DecideOptions): Decision | Promise<Decision>;
  /** Publishes a decision, after the events that led to it, and writes it down as evidence. Returns it. */
  publishDecision(decision: Decision, context?: DecisionContext): Decision;
  /** Publishes that a request is sent without a check. */
  publishIgnored(url: string, because: string): void;
  /** When a request of a guard starts, in epoch ms; `undefined` when {@link publishRequest} would reach no listener. */
  readonly requestStart: number | undefined;
  /** Publishes the response to a request of a guard, or its failure, and writes it down as evidence. */
  publishRequest(request: SentRequest): void;
  /** `RobotsClient.report` for an origin that {@link allows} has read. */
  reportOrigin(origin: string, reachable: boolean): void;
  /** `RobotsClient.acquirePermit`, but a promise only when the request has to wait. */
  acquirePermit(
    decision: Decision,
    pace: Pace,
    signal: AbortSignal | undefined,
  ): RequestPermit | Promise<RequestPermit>;
}

/**
 * The property of a client that has its engine. A registered symbol, because a program may load the package twice: the
 * client by `import`, the guard by `require`.
 */
export const ENGINE: unique symbol = Symbol.for('canfetch.engine');

/**
 * The engine of a client. `undefined` for a client of another class, and for one of another version of this package,
 * whose engine may differ: ask those by their public methods.
 */
export function engineOf(client: { readonly [ENGINE]: DecisionEngine }): DecisionEngine;
export function engineOf(client: object): DecisionEngine | undefined;
export function engineOf(client: { readonly [ENGINE]?: DecisionEngine }): DecisionEngine | undefined {
  const engine = client[ENGINE];
  return engine?.version === VERSION ? engine : undefined;
}
