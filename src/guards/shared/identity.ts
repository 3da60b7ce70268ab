import { invokeListener, quote, urlWithoutUserinfo, warnOnce } from '../../core/base/index.ts';
import { type Agent, agentTokens } from '../../core/decision/agent-tokens.ts';
import { productToken } from '../../core/rules/index.ts';
import { type EditableHeaders, HeaderCopy } from './headers.ts';

/** A request whose own User-Agent names another token than the one that robots.txt was checked for. */
export interface OtherIdentity {
  /** The URL of the first such request to its origin. */
  readonly url: string;
  /** The `User-Agent` of the request. */
  readonly userAgent: string;
  /** The tokens that robots.txt is checked for, in order of preference. */
  readonly agents: readonly string[];
}

/** Origins remembered as reported to `onIdentity`. Beyond this all are reported again. */
const MAX_REPORTED_ORIGINS = 10_000;

/** The `User-Agent` that libraries send by default: the fetches of Node and undici, got, axios. */
const LIBRARY_DEFAULT =
  /^(?:node|undici|got \(https:\/\/github\.com\/sindresorhus\/got\)|axios\/\d+\.\d+\.\d+\S*)$/;

/** How browsers, jsdom and others that pose as one begin. */
const A_BROWSER = /^Mozilla\//;

const SET_BY_HAND = 'a header field `User-Agent` in the library that sends them';

interface IdentityOptions {
  /** Whether requests without a `User-Agent` get one. */
  readonly fills: boolean;
  /** Whether the process is warned once when the library chose another one. */
  readonly warns: boolean;
  readonly onIdentity: ((identity: OtherIdentity) => void) | undefined;
}

/**
 * Sets and checks the `User-Agent` of page requests. RFC 9309 §2.2.1: the product token "SHOULD be a substring of the
 * identification string that the crawler sends to the service".
 */
export class Identity {
  /** The `User-Agent` for requests without one. */
  readonly userAgent: string;
  /** Whether a `User-Agent` is added to requests without one. */
  readonly fills: boolean;
  readonly #warns: boolean;
  readonly #onIdentity: ((identity: OtherIdentity) => void) | undefined;
  readonly #tokens: readonly string[];
  readonly #names: ReadonlySet<string>;
  readonly #reported = new Set<string>();

  constructor(agent: Agent, { fills, warns, onIdentity }: IdentityOptions) {
    this.#tokens = agentTokens(agent);
    this.#names = new Set(this.#tokens.map((token) => token.toLowerCase()));
    this.userAgent = typeof agent === 'string' ? agent : (agent[0] ?? '');
    // "*" stands for all agents, so it is no `User-Agent`.
    this.fills = fills && this.userAgent !== '*';
    this.#warns = warns;
    this.#onIdentity = onIdentity;
  }

  /** Whether requests are neither changed nor reported. */
  get isIdle(): boolean {
    return !this.fills && !this.#warns && this.#onIdentity === undefined;
  }

  /**
   * Sets the `User-Agent` that a request lacks. One that its library sends by default counts as none. Reports one that names
   * another product token.
   */
  identify(url: string | URL, headers: EditableHeaders): void {
    const field = headers.get('user-agent');
    // axios sends no such field for `false`, as the caller wants.
    if (field === false) return;
    const given = textOf(field);
    if (this.fills && (given === '' || LIBRARY_DEFAULT.test(given))) {
      headers.set('user-agent', this.userAgent);
    } else if (given !== '') this.compare(url, given);
  }

  /** The headers with the `User-Agent` that they lack; the same ones when nothing is changed. */
  identified<Headers>(url: string | URL, headers: Headers): Headers {
    const copy = new HeaderCopy(headers);
    this.identify(url, copy);
    return copy.headers as Headers;
  }

  /**
   * Reports a `User-Agent` that names another product token than robots.txt is checked for: to `onIdentity` once for each
   * origin, and else by one warning of the process where the library chose it, or it is a browser's.
   *
   * @param remedy The code that sends the client's name.
   */
  compare(url: string | URL, userAgent: string, remedy?: string): void {
    if (this.#names.has('*')) return;
    const name = productToken(userAgent)?.toLowerCase();
    if (name !== undefined && this.#names.has(name)) return;
    const poses = this.fills && this.#onIdentity === undefined && A_BROWSER.test(userAgent);
    if (remedy === undefined ? poses : this.#warns) {
      warnOnce(
        `robots.txt is checked for ${this.#tokens.join(', ')}, but pages are requested as ${quote(userAgent)}: ` +
          `${remedy ?? SET_BY_HAND} sends the name of the client, \`identify: false\` silences this warning`,
        'CANFETCH_OTHER_IDENTITY',
      );
    }
    if (this.#onIdentity === undefined) return;
    const { href, origin } = new URL(url);
    const shown = urlWithoutUserinfo(href);
    if (this.#reported.has(origin)) return;
    if (this.#reported.size >= MAX_REPORTED_ORIGINS) this.#reported.clear();
    this.#reported.add(origin);
    invokeListener('onIdentity', this.#onIdentity, { url: shown, userAgent, agents: this.#tokens });
  }
}

function textOf(field: unknown): string {
  if (field === undefined || field === null) return '';
  return String(Array.isArray(field) ? field[0] : field);
}
