import { LRUCache } from 'lru-cache';
import { type Agent, agentTokens } from '../rules/agent-tokens.ts';
import { productToken } from '../rules/index.ts';

/** A request whose own User-Agent names another token than the one that robots.txt was checked for. */
export interface OtherIdentity {
  /** The URL of the first such request to its origin. */
  readonly url: string;
  /** The `User-Agent` of the request. */
  readonly userAgent: string;
  /** The tokens that robots.txt is checked for, in order of preference. */
  readonly agents: readonly string[];
}

/** Origins remembered as reported to `onIdentity`. Beyond this the least recently used are reported again. */
const MAX_WARNED_ORIGINS = 10_000;

/** The `User-Agent` that libraries send by default: the fetches of Node and undici, got, axios. */
const LIBRARY_DEFAULT =
  /^(?:node|undici|got \(https:\/\/github\.com\/sindresorhus\/got\)|axios\/\d+\.\d+\.\d+\S*)$/;

/**
 * Sets and checks the `User-Agent` of page requests. RFC 9309 §2.2.1: the product token "SHOULD be a substring of the
 * identification string that the crawler sends to the service".
 */
export class Identity {
  /** The `User-Agent` for requests without one. */
  readonly userAgent: string;
  readonly #fills: boolean;
  readonly #onIdentity: ((identity: OtherIdentity) => void) | undefined;
  readonly #tokens: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #warned: LRUCache<string, true> | undefined;

  constructor(agent: Agent, fills: boolean, onIdentity: ((identity: OtherIdentity) => void) | undefined) {
    this.#tokens = agentTokens(agent);
    this.#names = new Set(this.#tokens.map((token) => token.toLowerCase()));
    this.userAgent = typeof agent === 'string' ? agent : (agent[0] ?? '');
    // "*" stands for all agents, so it is no `User-Agent`.
    this.#fills = fills && this.userAgent !== '*';
    this.#onIdentity = onIdentity;
    this.#warned = onIdentity && new LRUCache({ maxSize: MAX_WARNED_ORIGINS, sizeCalculation: () => 1 });
  }

  /** Whether requests are neither changed nor reported. */
  get isIdle(): boolean {
    return !this.#fills && this.#onIdentity === undefined;
  }

  /** Whether a `User-Agent` is added to requests without one. */
  get fills(): boolean {
    return this.#fills;
  }

  /**
   * The `User-Agent` to set on a request; `undefined` when the request stays as it is. Reports a `User-Agent` that
   * names another product token.
   *
   * @param given The `User-Agent` of the request. The default of its library counts as none.
   */
  replaces(url: string | URL, given: string | null | undefined): string | undefined {
    const isUnset = given === null || given === undefined || given === '';
    if (this.#fills && (isUnset || LIBRARY_DEFAULT.test(given))) return this.userAgent;
    if (!isUnset) this.#warn(url, given);
    return undefined;
  }

  #warn(url: string | URL, userAgent: string): void {
    if (this.#warned === undefined || this.#names.has('*')) return;
    const name = productToken(userAgent)?.toLowerCase();
    if (name !== undefined && this.#names.has(name)) return;
    const { href, origin } = new URL(url);
    if (this.#warned.get(origin) === true) return;
    this.#warned.set(origin, true);
    this.#onIdentity?.({ url: href, userAgent, agents: this.#tokens });
  }
}
