/* A file of its own: a client without guards does not load it. */
import { RobotsError, urlWithoutUserinfo } from '../base/index.ts';
import type { Decision, RedirectChain } from './decision.ts';

/** A request that a guard did not send, or whose response it withholds. */
export abstract class RefusedRequestError extends RobotsError implements RedirectChain {
  /** The decision about the request that was refused: the caller's, or a redirect. */
  readonly decision: Decision;
  /** The URL that the caller requested. Without redirects, the URL of the decision. */
  readonly requested: string;
  /** The URLs between {@link requested} and that of the decision, in order. */
  readonly redirects: readonly string[];

  /** Epoch ms from which a new try makes sense; `undefined` when time changes nothing. */
  declare readonly retryAt?: number | undefined;

  /** @param why The message after the prefix of {@link redirectChainPrefix}. */
  constructor(
    why: string,
    decision: Decision,
    chain: RedirectChain | undefined,
    options?: { readonly cause: unknown },
  ) {
    const { requested, redirects } = chain ?? { requested: decision.url, redirects: [] };
    super(redirectChainPrefix(decision.url, { requested, redirects }) + why, options);
    this.decision = decision;
    this.requested = requested;
    this.redirects = redirects;
  }
}

/** The start of a message about `url`: the requested URL and the number of redirects, without userinfo. */
export function redirectChainPrefix(url: string, { requested, redirects }: RedirectChain): string {
  if (requested === url && redirects.length === 0) return '';
  const [from, to] = [urlWithoutUserinfo(requested), urlWithoutUserinfo(url)];
  return redirects.length > 0
    ? `${from} leads to ${to} by ${redirects.length + 1} redirects: `
    : `${from} redirects to ${to}: `;
}
