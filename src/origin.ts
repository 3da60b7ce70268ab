import { RobotsInvalidUrlError } from './errors.ts';

/**
 * A URL taken apart the way robots.txt needs it: the *origin* whose rules apply, and the *target* they are held
 * against (path and query, exactly as the URL serialises them, without the fragment).
 *
 * One of these is filled again and again, so that a warm question allocates only the origin's string.
 */
export class LocatedUrl {
  /** The URL as the URL parser serialises it. */
  href = '';
  /** Scheme, host and port: host in lower case and punycode, default ports folded, userinfo dropped. */
  origin = '';
  /** The target is `href.slice(targetStart, targetEnd)`; it starts with `/`. */
  targetStart = 0;
  targetEnd = 0;
  /**
   * The target as octets, when {@link simple}. Filled in passing, so that nobody has to walk the string again.
   */
  octets: Uint8Array = new Uint8Array(256);
  /** Whether the target is plain ASCII without `%`, `*` and `$`: then it means itself to every reader. */
  simple = false;
  /** Where the query's `?` stands in `octets`; past every index when there is none. */
  query: number = NO_QUERY;
}

export const NO_QUERY = 0x7fff_ffff;

/**
 * Reads `input` into `into`.
 *
 * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when it is not an absolute http, https or ftp URL.
 */
export function locate(input: string | URL, into: LocatedUrl): void {
  if (typeof input === 'string' && locateSerialised(input, into)) return;
  locateParsed(input, into);
}

/** The origin of a URL: `https://www.exämple.com:443/a` → `https://www.xn--exmple-cua.com`. */
export function originOf(url: string | URL): string {
  const located = new LocatedUrl();
  locate(url, located);
  return located.origin;
}

/** Path and query of a URL: `https://example.com/a?b#c` → `/a?b`. A bare `?` is kept. */
export function targetOf(url: string | URL): string {
  const located = new LocatedUrl();
  locate(url, located);
  return located.href.slice(located.targetStart, located.targetEnd);
}

export const ROBOTS_PATH = '/robots.txt';

/** Whether the target of `located` is `/robots.txt` itself. */
export function isRobotsTarget(located: LocatedUrl): boolean {
  return (
    located.targetEnd - located.targetStart === ROBOTS_PATH.length &&
    located.href.startsWith(ROBOTS_PATH, located.targetStart)
  );
}

function locateParsed(input: string | URL, into: LocatedUrl): void {
  let url: URL;
  try {
    url = typeof input === 'string' ? new URL(input) : new URL(input.href);
  } catch (cause) {
    throw new RobotsInvalidUrlError(String(input), { cause });
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:' && url.protocol !== 'ftp:') {
    throw new RobotsInvalidUrlError(String(input));
  }
  const { href } = url;
  const fragment = href.indexOf('#');
  into.href = href;
  into.origin = url.origin;
  // A "/" in userinfo is serialised as "%2F", and hosts have none: the first one starts the path.
  into.targetStart = href.indexOf('/', url.protocol.length + 2);
  into.targetEnd = fragment < 0 ? href.length : fragment;
  into.simple = false;
}

const REFUSED = 0;
const PLAIN = 1;
const DOT = 2;
const PERCENT = 3;
const SLASH = 4;
const QUESTION = 5;
const HASH = 6;
const APOSTROPHE = 7;
/** Means itself to the URL parser, not to every reader of rules. */
const SPECIAL = 8;

/**
 * What a character behind the authority means for a URL that is already serialised. REFUSED ones may be changed
 * by the URL parser, so it is asked.
 */
const TARGET_CHARACTER: Uint8Array = new Uint8Array(128).map((_, code) => {
  const character = String.fromCharCode(code);
  if (code <= 0x20 || code === 0x7f || '"<>\\^`{|}'.includes(character)) return REFUSED;
  const special = "./%?#'*$".indexOf(character);
  return special < 0 ? PLAIN : ([DOT, SLASH, PERCENT, QUESTION, HASH, APOSTROPHE, SPECIAL, SPECIAL][special] ?? REFUSED);
});

/** 1 for what stands in an ordinary host name. */
const HOST_CHARACTER: Uint8Array = new Uint8Array(128).map((_, code) =>
  /[a-z0-9._-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * Most URLs a crawler holds have been through a URL parser before. Recognises those at a glance, and says
 * nothing (false) about any other: upper case, user info, default or odd ports, IP addresses, punycode, dot
 * segments, or characters that the parser would escape.
 */
function locateSerialised(text: string, into: LocatedUrl): boolean {
  const hostStart = text.startsWith('https://') ? 8 : text.startsWith('http://') ? 7 : 0;
  if (hostStart === 0) return false;
  const length = text.length;
  let at = hostStart;
  let label = hostStart;
  let code = 0;
  for (; at < length; at++) {
    code = text.charCodeAt(at);
    if (code > 0x7f || HOST_CHARACTER[code] === 0) break;
    if (code === 0x2e) label = at + 1;
    // "xn--" must be valid punycode; any "--" is left to the parser.
    else if (code === 0x2d && text.charCodeAt(at - 1) === 0x2d) return false;
  }
  // A last label that starts with a digit may make the host an IPv4 address in one of its many spellings.
  const initial = text.charCodeAt(label);
  if (at === label || initial < 0x61 || initial > 0x7a) return false;
  if (code === 0x3a && at < length) {
    const port = at + 1;
    for (at = port; at < length; at++) {
      code = text.charCodeAt(at);
      if (code < 0x30 || code > 0x39) break;
    }
    const first = text.charCodeAt(port);
    const digits = at - port;
    if (digits < 1 || digits > 5 || first === 0x30 || (digits === 5 && first > 0x35)) return false;
    if (text.startsWith(hostStart === 8 ? '443' : '80', port) && digits === (hostStart === 8 ? 3 : 2)) return false;
  }
  if (at >= length || code !== 0x2f) return false;
  const targetStart = at;
  if (into.octets.length < length) into.octets = new Uint8Array(length * 2);
  const { octets } = into;
  let simple = true;
  let query = NO_QUERY;
  let previous = PLAIN;
  for (; at < length; at++) {
    code = text.charCodeAt(at);
    const kind = code > 0x7f ? REFUSED : TARGET_CHARACTER[code]!;
    if (kind !== PLAIN) {
      if (kind === REFUSED) return false;
      if (kind === HASH) break;
      if (kind === PERCENT || kind === SPECIAL) simple = false;
      if (kind === QUESTION) {
        if (query === NO_QUERY) query = at - targetStart;
      } else if (kind === APOSTROPHE) {
        if (query !== NO_QUERY) return false;
      } else if (previous === SLASH && (kind === DOT || kind === PERCENT) && query === NO_QUERY) return false;
    }
    octets[at - targetStart] = code;
    previous = kind;
  }
  const targetEnd = at;
  // Nothing of the fragment counts, but it is part of the URL: what the parser would change is left to it.
  for (; at < length; at++) {
    code = text.charCodeAt(at);
    if (code > 0x7f || TARGET_CHARACTER[code] === REFUSED) return false;
  }
  into.simple = simple;
  into.query = query;
  into.href = text;
  into.origin = text.slice(0, targetStart);
  into.targetStart = targetStart;
  into.targetEnd = targetEnd;
  return true;
}
