import { RobotsInvalidUrlError, truncate, urlWithoutUserinfo } from '../base/index.ts';
import { encoder, readSerialised, type SerialisedUrl, urlBytes } from './serialised-url.ts';

/**
 * The longest URL, in bytes as the URL parser serialises it. nginx, Apache and CDNs refuse request lines above 8 to 32
 * KiB. A longer URL names no page, but costs time and memory to match.
 */
export const MAX_URL_BYTES = 65_536;

/** Length to which errors truncate a longer URL: lists of URLs keep their errors. */
const KEPT_OF_TOO_LONG = 2_000;

/**
 * A URL split for robots.txt: the *origin* whose rules apply, and the *target* that they are matched with (path and
 * query, exactly as serialised, without the fragment).
 *
 * An instance may be reused, so that the cheapest question allocates nothing.
 */
export class LocatedUrl implements SerialisedUrl {
  origin = '';
  targetStart = 0;
  targetEnd = 0;
  simple = false;
  byteMask = 0;
  /** The URL as the URL parser serialises it, without userinfo: decisions and messages have it. */
  href = '';
  /** The number of the read that filled it. See {@link bytes}. */
  #reading = 0;

  /**
   * Reads `input`.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when it is not an absolute http, https or ftp URL, or
   * longer than {@link MAX_URL_BYTES}.
   */
  read(input: string | URL): void {
    this.#reading = ++readings;
    if (typeof input === 'string' && readSerialised(input, this)) this.href = input;
    else this.#parse(input);
  }

  /**
   * The bytes of `href`. `undefined` when the target is not {@link simple}, or when another URL was read since: all
   * instances share one buffer.
   */
  get bytes(): Uint8Array | undefined {
    return this.simple && this.#reading === readings ? urlBytes : undefined;
  }

  #parse(input: string | URL): void {
    let url: URL;
    // Before it is parsed, which takes time by its length.
    if (typeof input === 'string' && input.length > MAX_URL_BYTES) throw tooLong(input);
    try {
      url = new URL(typeof input === 'string' ? input : input.href);
    } catch (cause) {
      throw new RobotsInvalidUrlError(input, { cause });
    }
    if (url.protocol !== 'http:' && url.protocol !== 'https:' && url.protocol !== 'ftp:') {
      throw new RobotsInvalidUrlError(input);
    }
    const href = urlWithoutUserinfo(removeDotSegments(url.href));
    if (href.length > MAX_URL_BYTES) throw tooLong(href);
    const fragment = href.indexOf('#');
    this.href = href;
    this.origin = url.origin;
    // Hosts have no "/", so the first one starts the path.
    this.targetStart = href.indexOf('/', url.protocol.length + 2);
    this.targetEnd = fragment < 0 ? href.length : fragment;
    this.simple = false;
  }
}

let readings = 0;

/** The error for a URL, or the path of one, with more than {@link MAX_URL_BYTES}. */
export function tooLong(text: string, what: 'URL' | 'path' = 'URL'): RobotsInvalidUrlError {
  const kept = detachedString(truncate(text, KEPT_OF_TOO_LONG));
  return new RobotsInvalidUrlError(kept, undefined, `a ${what} of at most ${MAX_URL_BYTES} bytes`);
}

/**
 * Splits a URL into origin and target.
 *
 * @param into An instance to reuse.
 * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
 */
export function locate(input: string | URL, into: LocatedUrl = new LocatedUrl()): LocatedUrl {
  into.read(input);
  return into;
}

/** The origin of a URL: `https://www.exämple.com:443/a` → `https://www.xn--exmple-cua.com`. */
export function originOf(url: string | URL): string {
  return locate(url).origin;
}

const decoder = /* @__PURE__ */ new TextDecoder();

/**
 * `text`, for keeping: engines make a slice a view of the string it was cut from, so that an origin would keep the
 * whole URL in memory.
 */
export function detachedString(text: string): string {
  return decoder.decode(encoder.encode(text));
}

/** Path and query of a URL: `https://example.com/a?b#c` → `/a?b`. A bare `?` is kept. */
export function targetOf(url: string | URL): string {
  const { href, targetStart, targetEnd } = locate(url);
  return href.slice(targetStart, targetEnd);
}

export const ROBOTS_PATH = '/robots.txt';
/** V8 computes with a constant of the module that is not exported, and reads any other. */
const ROBOTS_LENGTH = ROBOTS_PATH.length;

/** Whether the target of `located` is `/robots.txt` itself. */
export function isRobotsTarget(located: LocatedUrl): boolean {
  return (
    located.targetEnd - located.targetStart === ROBOTS_LENGTH &&
    located.href.startsWith(ROBOTS_PATH, located.targetStart)
  );
}

/** A single-dot or, with a second dot, a double-dot URL path segment (URL Standard §4.1). */
const DOTS = /^(?:\.|%2e)(\.|%2e)?$/i;

/** Scheme, the empty segment between the two slashes, and host. */
const SITE_SEGMENTS = 3;

/**
 * Removes the dot segments of a URL that a URL parser has serialised: `http://host/a/../b` → `http://host/b`.
 *
 * Every URL parser should have done so (URL Standard §4.4, path state), but Node 20 and 22 keep dot segments after a
 * segment that starts with a dot: `new URL('http://host/docs/.cfg/../private').pathname` is `/docs/.cfg/../private`
 * there. A server that removes them would then serve a path that was not matched with the rules.
 *
 * @param href The `href` of an http, https or ftp URL.
 * @returns The same string when it has no dot segment.
 */
export function removeDotSegments(href: string): string {
  if (!href.includes('/.')) return href;
  const end = href.search(/[?#]|$/);
  const kept: string[] = [];
  let dots: RegExpExecArray | null = null;
  for (const segment of href.slice(0, end).split('/')) {
    dots = kept.length < SITE_SEGMENTS ? null : DOTS.exec(segment);
    if (dots === null) kept.push(segment);
    else if (dots[1] !== undefined && kept.length > SITE_SEGMENTS) kept.pop();
  }
  // `/a/..` is `/`: "if c is neither U+002F (/) … append the empty string".
  if (dots !== null) kept.push('');
  return kept.join('/') + href.slice(end);
}

/** What a URL parser may turn into a path with a dot segment. */
const UNSERIALISED = /\/\.|[\t\n\r\\]/;

/** Whether {@link sentUrl} returns a URL unchanged, as for nearly every request. */
export function isSentAsGiven(url: string): boolean {
  return !UNSERIALISED.test(url);
}

/**
 * The URL that is sent in place of `url`: without the dot segments that Node 20 and 22 leave in it. It is also
 * the URL that is decided: a server would remove the dot segments, too.
 */
export function sentUrl(url: string): string {
  if (isSentAsGiven(url) || !URL.canParse(url)) return url;
  const { href, protocol } = new URL(url);
  return protocol === 'http:' || protocol === 'https:' ? removeDotSegments(href) : url;
}

/** {@link sentUrl} of a URL that a library sends as this very object. */
export function cleanInPlace(url: URL): void {
  const sent = sentUrl(url.href);
  if (sent !== url.href) url.href = sent;
}

/** The maximum number of origins kept, to bound memory: at most some hundred megabytes. */
const MAX_REMEMBERED = 1_000_000;

/** Longest origin of a real host (RFC 1035 §2.3.4: "names 255 octets or less"), with scheme and port. */
const MAX_LENGTH = 280;

/**
 * Counts the distinct origins of a list. It keeps the last million. An older origin counts as new when it comes
 * again; that costs one more question, served from the cache.
 */
export class DistinctOrigins {
  readonly #maxRemembered: number;
  readonly #seen = new Set<string>();
  #added = 0;

  constructor(maxRemembered: number = MAX_REMEMBERED) {
    this.#maxRemembered = maxRemembered;
  }

  /** Number of new origins so far. */
  get count(): number {
    return this.#added;
  }

  /** Adds an origin. Returns whether it is new. */
  add(origin: string): boolean {
    if (this.#seen.has(origin)) return false;
    this.#added++;
    // No real host has so long a name. It is not kept, and counts as new each time.
    if (origin.length > MAX_LENGTH) return true;
    this.#seen.add(origin);
    // Drop the oldest.
    if (this.#seen.size > this.#maxRemembered) this.#seen.delete(this.#seen.values().next().value ?? '');
    return true;
  }
}
