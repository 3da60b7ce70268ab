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
  /** The URL as octets, when {@link simple}: nobody has to walk the string again. */
  octets: Uint8Array = new Uint8Array(1024);
  /** Whether the target is plain ASCII without `%`, `*` and `$`: then it means itself to every reader. */
  simple = false;
  /** Where the query's `?` stands in the target; past every index when there is none. */
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

const encoder = new TextEncoder();

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
 * What an octet behind the authority means for a URL that is already serialised. REFUSED ones may be changed by
 * the URL parser, so it is asked.
 */
const TARGET_OCTET: Uint8Array = new Uint8Array(256).map((_, code) => {
  const character = String.fromCharCode(code);
  if (code <= 0x20 || code >= 0x7f || '"<>\\^`{|}'.includes(character)) return REFUSED;
  const special = "./%?#'*$".indexOf(character);
  return special < 0 ? PLAIN : ([DOT, SLASH, PERCENT, QUESTION, HASH, APOSTROPHE, SPECIAL, SPECIAL][special] ?? REFUSED);
});

/** 1 for what stands in an ordinary host name. */
const HOST_OCTET: Uint8Array = new Uint8Array(256).map((_, code) =>
  /[a-z0-9._-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/**
 * Most URLs a crawler holds have been through a URL parser before. Recognises those at a glance, and says
 * nothing (false) about any other: upper case, user info, default or odd ports, IP addresses, punycode, dot
 * segments, or characters that the parser would escape.
 */
function locateSerialised(text: string, into: LocatedUrl): boolean {
  const length = text.length;
  if (into.octets.length < length) into.octets = new Uint8Array(length * 2);
  const { octets } = into;
  // Walking octets is quicker than walking a string, by more than this costs. Fewer or more octets than
  // characters: not ASCII.
  const { read, written } = encoder.encodeInto(text, octets);
  if (read !== length || written !== length) return false;
  const hostStart = schemeLength(octets);
  if (hostStart === 0) return false;
  const targetStart = authorityEnd(octets, hostStart, length);
  if (targetStart < 0) return false;

  let simple = true;
  let query = NO_QUERY;
  let previous = PLAIN;
  let at = targetStart;
  for (; at < length; at++) {
    const kind = TARGET_OCTET[octets[at]!]!;
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
    previous = kind;
  }
  const targetEnd = at;
  // Nothing of the fragment counts, but it is part of the URL: what the parser would change is left to it.
  for (; at < length; at++) if (TARGET_OCTET[octets[at]!] === REFUSED) return false;
  into.simple = simple;
  into.query = query;
  into.href = text;
  into.origin = text.slice(0, targetStart);
  into.targetStart = targetStart;
  into.targetEnd = targetEnd;
  return true;
}

/** Length of `http://` or `https://` at the start, 0 for anything else. */
function schemeLength(octets: Uint8Array): number {
  if (octets[0] !== 0x68 || octets[1] !== 0x74 || octets[2] !== 0x74 || octets[3] !== 0x70) return 0;
  const colon = octets[4] === 0x73 ? 5 : 4;
  return octets[colon] === 0x3a && octets[colon + 1] === 0x2f && octets[colon + 2] === 0x2f ? colon + 3 : 0;
}

/** Where the authority ends, if it is a plain host name and perhaps a port, before a slash; -1 otherwise. */
function authorityEnd(octets: Uint8Array, hostStart: number, length: number): number {
  let at = hostStart;
  let label = hostStart;
  while (at < length && HOST_OCTET[octets[at]!] === 1) {
    const octet = octets[at++]!;
    if (octet === 0x2e) label = at;
    // "xn--" must be valid punycode; any "--" is left to the parser.
    else if (octet === 0x2d && octets[at] === 0x2d) return -1;
  }
  // A last label that starts with a digit may make the host an IPv4 address in one of its many spellings.
  if (at === label || at >= length || octets[label]! < 0x61 || octets[label]! > 0x7a) return -1;
  if (octets[at] === 0x3a) {
    const port = ++at;
    let value = 0;
    while (at < length && octets[at]! >= 0x30 && octets[at]! <= 0x39 && at - port < 5) value = value * 10 + octets[at++]! - 0x30;
    // Default ports are folded, leading zeros dropped.
    if (at === port || octets[port] === 0x30 || value > 0xffff || value === (hostStart === 8 ? 443 : 80)) return -1;
  }
  return at < length && octets[at] === 0x2f ? at : -1;
}
