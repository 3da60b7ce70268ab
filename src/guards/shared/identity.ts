import { quote, warnOnce } from '../../core/base/index.ts';
import { type Agent, agentTokens } from '../../core/decision/agent-tokens.ts';
import { productToken } from '../../core/rules/index.ts';
import { type EditableHeaders, HeaderCopy } from './headers.ts';

/** The `User-Agent` that libraries send by default: the fetches of Node and undici, got, axios. */
const LIBRARY_DEFAULT =
  /^(?:node|undici|got \(https:\/\/github\.com\/sindresorhus\/got\)|axios\/\d+\.\d+\.\d+\S*)$/;

/** How browsers, jsdom and others that pose as one begin. */
const A_BROWSER = /^Mozilla\//;

const SET_BY_HAND = 'a header field `User-Agent` in the library that sends them';

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
  readonly #tokens: readonly string[];
  readonly #names: ReadonlySet<string>;

  /**
   * @param fills Whether requests without a `User-Agent` get one.
   * @param warns Whether the process is warned once when the library chose another one.
   */
  constructor(agent: Agent, fills: boolean, warns: boolean) {
    this.#tokens = agentTokens(agent);
    this.#names = new Set(this.#tokens.map((token) => token.toLowerCase()));
    this.userAgent = typeof agent === 'string' ? agent : (agent[0] ?? '');
    // "*" stands for all agents, so it is no `User-Agent`.
    this.fills = fills && this.userAgent !== '*';
    this.#warns = warns;
  }

  /** Whether requests are neither changed nor compared. */
  get isIdle(): boolean {
    return !this.fills && !this.#warns;
  }

  /** Sets the `User-Agent` that a request lacks. One that its library sends by default counts as none. */
  identify(headers: EditableHeaders): void {
    const field = headers.get('user-agent');
    // axios sends no such field for `false`, as the caller wants.
    if (!this.fills || field === false) return;
    const given = textOf(field);
    if (given === '' || LIBRARY_DEFAULT.test(given)) headers.set('user-agent', this.userAgent);
    else if (A_BROWSER.test(given)) this.#compare(given, SET_BY_HAND);
  }

  /** The headers with the `User-Agent` that they lack; the same ones when nothing is changed. */
  identified<Headers>(headers: Headers): Headers {
    const copy = new HeaderCopy(headers);
    this.identify(copy);
    return copy.headers as Headers;
  }

  /**
   * The library has chosen a `User-Agent`. Warns the process once of one that names another product token than robots.txt is
   * checked for.
   *
   * @param remedy The code that sends the client's name.
   */
  chosen(userAgent: string, remedy: string): void {
    if (this.#warns) this.#compare(userAgent, remedy);
  }

  #compare(userAgent: string, remedy: string): void {
    const name = productToken(userAgent)?.toLowerCase();
    if (this.#names.has('*') || (name !== undefined && this.#names.has(name))) return;
    warnOnce(
      `robots.txt is checked for ${this.#tokens.join(', ')}, but pages are requested as ${quote(userAgent)}: ` +
        `${remedy} sends the name of the client, \`identify: false\` silences this warning`,
      'CANFETCH_OTHER_IDENTITY',
    );
  }
}

function textOf(field: unknown): string {
  if (field === undefined || field === null) return '';
  return String(Array.isArray(field) ? field[0] : field);
}
