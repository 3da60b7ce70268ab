import type { Decision } from '../decision.ts';
import type { Agent } from '../options.ts';
import { type GuardOptions, reasonToIgnore } from './options.ts';
import { refusal } from './refusal.ts';

/** The part of a `RobotsClient` that guards use. */
export interface GuardClient {
  peek(url: string | URL, agent?: Agent): Decision | undefined;
  check(url: string | URL, agent?: Agent, options?: { readonly signal?: AbortSignal }): Promise<Decision>;
  report(url: string | URL, signal: { readonly reachable: boolean }): void;
}

/** What all guards do alike, whatever they guard: a client, and what the caller said about its use. */
export class Guard {
  readonly #client: GuardClient;
  readonly #options: GuardOptions;

  /** `options` were checked before. */
  constructor(client: GuardClient, options: GuardOptions) {
    this.#client = client;
    this.#options = options;
  }

  /**
   * Whether robots.txt is to be asked about a request for `url`. `robots` is what the request itself says of it.
   *
   * @throws RobotsInvalidOptionsError when `robots` is not what it must be.
   */
  concerns(url: URL, robots?: unknown): boolean {
    const because = reasonToIgnore(robots);
    // `data:`, `blob:` and `file:` URLs reach no site.
    if (url.protocol !== 'http:' && url.protocol !== 'https:') return false;
    if (because !== undefined) {
      this.#options.onIgnore?.({ url: url.href, because });
      return false;
    }
    return this.#options.filter?.(url) ?? true;
  }

  /** Whether this is a dry run. */
  get reportsOnly(): boolean {
    return this.#options.mode === 'report';
  }

  /** The decision about `url`, if it can be told at once. */
  peek(url: URL): Decision | undefined {
    return this.#client.peek(url.href, this.#options.agent);
  }

  /** The decision about `url`. Rejects with the reason of an aborted `signal`. */
  async decide(url: URL, signal: AbortSignal | undefined): Promise<Decision> {
    signal?.throwIfAborted();
    return (
      this.peek(url) ??
      this.#client.check(url.href, this.#options.agent, signal === undefined ? {} : { signal })
    );
  }

  /** Whether a request is to be refused after `decision`; tells the caller of it. */
  refuses(decision: Decision): boolean {
    if (decision.allowed) return false;
    this.#options.onRefusal?.(decision);
    return !this.reportsOnly;
  }

  /**
   * Returns when `url` may be requested.
   *
   * @throws RobotsDisallowedError, RobotsUnreachableError, or the reason of an aborted signal.
   */
  async admit(url: URL, signal: AbortSignal | undefined): Promise<void> {
    const decision = await this.decide(url, signal);
    if (this.refuses(decision)) throw refusal(decision);
  }

  /** Tells the client what a page request showed of the site's availability; never gets in the way. */
  report(url: URL, reachable: boolean): void {
    try {
      this.#client.report(url.href, { reachable });
    } catch {
      // A client closed meanwhile has no use for it.
    }
  }
}
