import { LRUCache } from 'lru-cache';
import { type Agent, agentTokens } from '../rules/agent-tokens.ts';
import { productToken } from '../rules/index.ts';

/** A request whose own User-Agent names another token than the one that robots.txt was asked about. */
export interface OtherIdentity {
  /** The URL of the first such request to its origin. */
  readonly url: string;
  /** The `User-Agent` of the request. */
  readonly userAgent: string;
  /** The tokens that robots.txt is asked about, in order of preference. */
  readonly agents: readonly string[];
}

/** Origins that `onIdentity` has heard of. Of more, the ones not met for longest are told of again. */
const MAX_TOLD_ORIGINS = 10_000;

/** What libraries send when their caller set nothing: the fetches of Node and undici, got, axios. */
const LIBRARY_DEFAULT =
  /^(?:node|undici|got \(https:\/\/github\.com\/sindresorhus\/got\)|axios\/\d+\.\d+\.\d+\S*)$/;

/**
 * Who requests for pages say they are. RFC 9309 §2.2.1: the product token "SHOULD be a substring of the identification
 * string that the crawler sends to the service".
 */
export class Identity {
  /** What a request without a `User-Agent` is given. */
  readonly userAgent: string;
  readonly #fills: boolean;
  readonly #onIdentity: ((identity: OtherIdentity) => void) | undefined;
  readonly #tokens: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #told: LRUCache<string, true> | undefined;

  constructor(agent: Agent, fills: boolean, onIdentity: ((identity: OtherIdentity) => void) | undefined) {
    this.#tokens = agentTokens(agent);
    this.#names = new Set(this.#tokens.map((token) => token.toLowerCase()));
    this.userAgent = typeof agent === 'string' ? agent : (agent[0] ?? '');
    // "*" asks for everybody, and names nobody.
    this.#fills = fills && this.userAgent !== '*';
    this.#onIdentity = onIdentity;
    this.#told = onIdentity && new LRUCache({ max: MAX_TOLD_ORIGINS });
  }

  /** Whether there is nothing to do. */
  get isIdle(): boolean {
    return !this.#fills && this.#onIdentity === undefined;
  }

  /** Whether requests without a `User-Agent` are given one. */
  get fills(): boolean {
    return this.#fills;
  }

  /**
   * The `User-Agent` that a request is to be given; `undefined` when it stays as it is. Tells of one that is of somebody
   * else.
   *
   * @param given What the request has. A default of its library counts as none.
   */
  replaces(url: string | URL, given: string | null | undefined): string | undefined {
    const isUnset = given === null || given === undefined || given === '';
    if (this.#fills && (isUnset || LIBRARY_DEFAULT.test(given))) return this.userAgent;
    if (!isUnset) this.#tell(url, given);
    return undefined;
  }

  #tell(url: string | URL, userAgent: string): void {
    if (this.#told === undefined || this.#names.has('*')) return;
    const name = productToken(userAgent)?.toLowerCase();
    if (name !== undefined && this.#names.has(name)) return;
    const { href, origin } = new URL(url);
    if (this.#told.get(origin) === true) return;
    this.#told.set(origin, true);
    this.#onIdentity?.({ url: href, userAgent, agents: this.#tokens });
  }
}
