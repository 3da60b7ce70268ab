import { RobotsError } from '../base/index.ts';
import type { Decision } from './decision.ts';

/** How a guard came to the URL of a decision: by itself, or by redirects. */
export interface RedirectChain {
  /** The URL that was asked for. Without redirects it is the URL of the decision. */
  readonly requested: string;
  /** The URLs between {@link requested} and that of the decision, in order. */
  readonly redirects: readonly string[];
}

/** A request that a guard did not send, or whose answer it does not give. */
export abstract class RefusedRequestError extends RobotsError implements RedirectChain {
  /** The decision about the hop that was refused. */
  readonly decision: Decision;
  /** The URL that was asked for. It is that of the decision, unless redirects led there. */
  readonly requested: string;
  /** The URLs between {@link requested} and that of the decision, in order. */
  readonly redirects: readonly string[];

  /** Epoch ms from which a new try makes sense; `undefined` when time changes nothing. */
  declare readonly retryAt?: number | undefined;

  /** @param why What is said of the decision. The message begins with the URL that was asked for. */
  constructor(why: string, decision: Decision, way: RedirectChain | undefined) {
    const { requested, redirects } = way ?? { requested: decision.url, redirects: [] };
    super(leadText(decision.url, { requested, redirects }) + why);
    this.decision = decision;
    this.requested = requested;
    this.redirects = redirects;
  }
}

/** The start of a message about `url`: how redirects led there from the URL that was asked for. */
export function leadText(url: string, { requested, redirects }: RedirectChain): string {
  if (redirects.length > 0) return `${requested} leads to ${url} by ${redirects.length + 1} redirects: `;
  return requested === url ? '' : `${requested} redirects to ${url}: `;
}
