/** The channels of `node:diagnostics_channel` about decisions. A message is made only while its channel has a subscriber. */
import { channel, type ClientMessage, type Publisher } from '../base/index.ts';
import type { Gatekeeper } from '../lifecycle/index.ts';
import type { Decision, DecisionUsage, RedirectChain } from './decision.ts';
import type { DelayFrom } from './policy.ts';

/** Details of a decision by a guard. */
export interface DecisionContext extends Partial<RedirectChain> {
  /** `true` when a crawler has found a link and looks it up in memory before it queues it: no request is made yet. */
  readonly lookup?: boolean;
  /** `true` when the decision is about a request of a guard. Others are about questions to the client. */
  readonly request?: boolean;
  /** `true` when a guard refuses its request. Absent in a dry run, where the request is sent. */
  readonly refused?: boolean;
  /** What the site states about the use of the page, where the question has a purpose. */
  readonly usage?: DecisionUsage;
}

/**
 * `canfetch:decision`: a decision was made. Guards publish one per request, even if the request waited and was decided
 * again.
 */
export interface DecisionMessage extends ClientMessage, DecisionContext {
  readonly decision: Decision;
}

/** `canfetch:usage`: a guard refused a page for its `purpose`, or would have in a dry run. */
export interface UsageRefusalMessage extends ClientMessage, Partial<RedirectChain> {
  /** It allows fetching. Its `usage` has the line or the header field. */
  readonly decision: Decision;
}

/** `canfetch:deferred`: a request would have waited longer than `maxDelayMs`, so it was not sent. */
export interface DeferralMessage extends ClientMessage {
  readonly decision: Decision;
  /** Epoch ms from which a new try makes sense. */
  readonly retryAt: number;
  /** Why the request could not start before. */
  readonly delayFrom: DelayFrom;
}

/** `canfetch:pause`: a site asked for a pause with a 429 or 503, so its origin pauses. Published once a pause. */
export interface PauseMessage extends ClientMessage {
  /** The origin whose response asked for the pause. */
  readonly origin: string;
  /** What pauses: a host, an origin, or the text of the caller's function. */
  readonly scope: string;
  /** Absent for the `Retry-After` of a `report` without a status. */
  readonly status?: number;
  /** Epoch ms. */
  readonly from: number;
  /** Epoch ms. Later responses may lengthen the pause: `policy(url).pacing` has its end in force. */
  readonly until: number;
  /** Whether the site named the time, or it is a guess. */
  readonly delayFrom: 'retry-after' | 'back-off';
  /** Counts the incidents without 30 quiet minutes between them, from 1. */
  readonly incident: number;
}

/** `canfetch:ignored`: a guard sent a request without a check, because the caller said so. */
export interface IgnoredMessage extends ClientMessage {
  readonly url: string;
  /** The caller's reason. */
  readonly because: string;
}

/** What shares a pace, and the delays of the option `pacing`, in milliseconds. */
export interface OwnDelays {
  readonly scope: string;
  readonly defaultDelayMs: number;
  readonly minDelayMs: number;
}

/** Details of a request that a guard sent, or the caller with a booking of `reserve`. */
export interface SentRequest {
  readonly url: string;
  readonly origin: string;
  /** Epoch ms. */
  readonly startedAt: number;
  readonly status?: number;
  /** Code of the error, if there was no response. `ERR_ROBOTS_ADDRESS_REFUSED`: no connection was opened. */
  readonly error?: string;
  /** The response's header fields forbid the purpose of the guard: the caller got this error instead. */
  readonly refused?: 'ERR_ROBOTS_USAGE';
  /** The field `Retry-After` of a response that asks for a pause. */
  readonly retryAfter?: string;
  /** The crawler's own delays, if the request was paced. They hold beside what the site states. */
  readonly pacing?: OwnDelays;
  /** The service that responded in place of the site, with a challenge or a block. */
  readonly gatekeeper?: Gatekeeper;
  /** The price that a 402 names, as in its field `crawler-price`. */
  readonly price?: string;
}

/**
 * `canfetch:request`: the header of a response to a guard's request has come, or the request failed; or `done` of a booking
 * was called. One for each request that was sent; redirects are requests of their own.
 */
export interface RequestMessage extends ClientMessage, SentRequest {}

/**
 * `canfetch:body`: the body of a response to a guard's request was cut after its header had come, or was not read in time.
 * Published where the library shows it, under `pacing`.
 */
export interface BodyMessage extends ClientMessage, BodyTrouble {}

/** A body that was cut, or not read. */
export interface BodyTrouble {
  readonly url: string;
  readonly origin: string;
  readonly status: number;
  /** Code of the error that cut it; `CANFETCH_BODY_UNREAD` when nobody began to read it in time. */
  readonly error: string;
}

/** The code of the warning for a body that nobody began to read. */
export const BODY_UNREAD = 'CANFETCH_BODY_UNREAD';

interface DecisionMessages {
  readonly decision: DecisionMessage;
  readonly usage: UsageRefusalMessage;
  readonly deferred: DeferralMessage;
  readonly pause: PauseMessage;
  readonly ignored: IgnoredMessage;
  readonly request: RequestMessage;
  readonly body: BodyMessage;
}

export const decisionChannels: {
  readonly [Name in keyof DecisionMessages]: Publisher<DecisionMessages[Name]>;
} = {
  decision: channel('canfetch:decision'),
  usage: channel('canfetch:usage'),
  deferred: channel('canfetch:deferred'),
  pause: channel('canfetch:pause'),
  ignored: channel('canfetch:ignored'),
  request: channel('canfetch:request'),
  body: channel('canfetch:body'),
};

export type ClientEventName = keyof DecisionMessages;

/** A message of a client, to a listener that hears no other client. */
export type ClientEvent<Name extends ClientEventName> = Omit<DecisionMessages[Name], 'client'>;

export type ClientListener = {
  readonly [Name in ClientEventName]?: (event: ClientEvent<Name>) => void;
};
