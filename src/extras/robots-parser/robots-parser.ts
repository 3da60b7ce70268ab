/**
 * The interface of the package `robots-parser`, over this package's rules. An entry point: nothing else imports
 * it, and it imports only `rules/`, `url/` and `base/`.
 */
import { parseRobots, type RobotsFile, type Verdict } from '../../core/rules/index.ts';
import { locate, LocatedUrl } from '../../core/url/index.ts';

/** Relative URLs resolve to this host. The name is reserved (RFC 6761 §6.4), so no site has it. */
const RELATIVE = 'http://relative.invalid';

/** Shared by all calls: nothing here is asynchronous. */
const located = new LocatedUrl();

/**
 * A robots.txt with the methods of the package `robots-parser`. Verdicts follow RFC 9309 and the URL Standard, so they
 * differ where that package does not. `ua` is a product token or a User-Agent string; without it
 * the groups for `*` count.
 */
export interface Robot {
  /**
   * Whether `ua` may fetch `url`.
   *
   * @returns `undefined` when `url` is of another origin than the robots.txt, or no URL.
   */
  isAllowed(url: string, ua?: string): boolean | undefined;
  /** The opposite of {@link isAllowed}: also true when that is `undefined`. */
  isDisallowed(url: string, ua?: string): boolean | undefined;
  /**
   * Whether a group that names `ua` disallows `url`; groups for `*` do not count. Version 3.0.1 of the package has no
   * such method. Here it is always there; the type says otherwise, so that a test may replace a `Robot` by an object
   * with the methods of the package.
   *
   * @returns `undefined` when `url` is of another origin than the robots.txt, or no URL.
   */
  isExplicitlyDisallowed?(url: string, ua: string): boolean | undefined;
  /** The line of the rule that decides, counted from 1; -1 when none does, or `url` is of another origin. */
  getMatchingLineNumber(url: string, ua?: string): number;
  /** The `Crawl-delay` for `ua`, in seconds. */
  getCrawlDelay(ua?: string): number | undefined;
  /** The values of all `Sitemap` lines, as written. It is the same array each time. */
  getSitemaps(): string[];
  /** The value of the last `Host` line, in lower case. */
  getPreferredHost(): string | null;
}

class Robots implements Robot {
  readonly #origin: string | undefined;
  readonly #file: RobotsFile;
  #sitemaps: string[] | undefined;

  constructor(url: string, text: string) {
    this.#origin = readUrl(url) ? located.origin : undefined;
    this.#file = parseRobots(text);
  }

  isAllowed(url: string, ua?: string): boolean | undefined {
    return this.#verdict(url, ua)?.allowed;
  }

  isDisallowed(url: string, ua?: string): boolean {
    return this.isAllowed(url, ua) !== true;
  }

  isExplicitlyDisallowed(url: string, ua: string): boolean | undefined {
    const verdict = this.#verdict(url, ua);
    if (verdict === undefined) return undefined;
    return !verdict.allowed && this.#file.rulesetFor(ua).scope === 'named';
  }

  getMatchingLineNumber(url: string, ua?: string): number {
    return this.#verdict(url, ua)?.rule?.line ?? -1;
  }

  getCrawlDelay(ua?: string): number | undefined {
    const delayMs = this.#file.crawlDelay(ua || '*');
    return delayMs === undefined ? undefined : delayMs / 1000;
  }

  getSitemaps(): string[] {
    // The package trims what `trim` of strings does; in bytes U+00A0 is an ordinary character.
    return (this.#sitemaps ??= this.#file.sitemaps.flatMap(({ url }) => url.trim() || []));
  }

  getPreferredHost(): string | null {
    const hosts = this.#file.otherRecords.filter(({ key, value }) => key === 'host' && value !== '');
    return hosts.at(-1)?.value.toLowerCase() ?? null;
  }

  #verdict(url: string, ua: string | undefined): Verdict | undefined {
    const isOurs = readUrl(url) && located.origin === this.#origin;
    return isOurs ? this.#file.check(located.href, ua || '*') : undefined;
  }
}

/**
 * Whether `given`, which may be relative, is a URL; it is then in {@link located}. As in the package, the text of any value
 * counts: that of a `URL`, and even that of `undefined`, which is a relative URL.
 */
function readUrl(given: string): boolean {
  try {
    const url = String(given);
    if (!url.startsWith('/')) {
      locate(url, located);
      return true;
    }
  } catch {
    // No absolute URL.
  }
  try {
    locate(new URL(given, RELATIVE), located);
    return true;
  } catch {
    return false;
  }
}

/**
 * Default export of `canfetch/robots-parser`, also for `require`. It has the signature of the package
 * `robots-parser`.
 *
 * @param url URL of the robots.txt, such as `https://example.com/robots.txt`. With a relative one, only relative URLs
 * can be checked.
 * @param text The body of the robots.txt.
 *
 * @example
 * ```ts
 * const robots = robotsParser('https://example.com/robots.txt', 'User-agent: *\nDisallow: /private');
 * robots.isAllowed('https://example.com/private', 'ExampleBot'); // false
 * ```
 */
export default function robotsParser(url: string, text: string): Robot {
  // The package takes a missing text for an empty file.
  return new Robots(url, text ?? '');
}

export { robotsParser as 'module.exports' };
