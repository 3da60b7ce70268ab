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
  /** Whether `href` was recognised as serialised already. */
  serialised = false;
  /**
   * Whether the target is known to be plain ASCII without `%`, `*` and `$`: then it means itself to every reader.
   */
  simple = false;
}

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
  into.serialised = into.simple = false;
}

const PLAIN = 0;
const REFUSED = 1;
const DOT = 2;
const PERCENT = 4;
const SLASH = 8;
const QUESTION = 16;
const HASH = 32;
const APOSTROPHE = 64;

/**
 * What a character behind the authority means for a URL that is already serialised. REFUSED ones may be changed
 * by the URL parser, so it is asked.
 */
const TARGET_CHARACTER: Uint8Array = new Uint8Array(128).map((_, code) => {
  const character = String.fromCharCode(code);
  if (code <= 0x20 || code === 0x7f || '"<>\\^`{|}'.includes(character)) return REFUSED;
  const special = "./%?#'".indexOf(character);
  const kinds = [DOT, SLASH, PERCENT, QUESTION, HASH, APOSTROPHE];
  return special < 0 ? PLAIN : (kinds[special] ?? REFUSED);
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
  // Links come in bundles: what the last URL's authority was read for holds for this one's, if a slash follows,
  // which every target starts with.
  let same = into.serialised && text.startsWith(into.origin);
  let targetStart = same ? into.origin.length : authorityEnd(text);
  if (targetStart < 0) return false;
  SIMPLE_TARGET.lastIndex = targetStart;
  const simple = SIMPLE_TARGET.test(text);
  if (!simple && same && !text.startsWith('/', targetStart)) {
    same = false;
    targetStart = authorityEnd(text);
    if (targetStart < 0) return false;
  }
  const targetEnd = simple ? text.length : serialisedTargetEnd(text, targetStart);
  if (targetEnd < 0) return false;
  into.serialised = true;
  into.simple = simple;
  into.href = text;
  if (!same) into.origin = text.slice(0, targetStart);
  into.targetStart = targetStart;
  into.targetEnd = targetEnd;
  return true;
}

/**
 * Most targets: segments of plain characters, none starting with a dot, perhaps a query; no fragment. An
 * expression walks a string twice as fast as code does. Its parts exclude each other, so that it never goes back.
 */
const SIMPLE_TARGET = /(?:\/(?!\.)[\w~!&()+,;=:@.-]*)+(?:\?[\w~!&()+,;=:@./?-]*)?$/y;

/** Where the target that starts at `start` ends; -1 if the parser might change anything from there on. */
function serialisedTargetEnd(text: string, start: number): number {
  let kinds = 0;
  let inQuery = false;
  let previous = SLASH;
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code > 0x7f ? REFUSED : TARGET_CHARACTER[code]!;
    if (kind === HASH) break;
    // "/." may start a dot segment, and so may "/%", which may spell a dot.
    if (previous === SLASH && (kind & (DOT | PERCENT)) !== 0 && !inQuery) return -1;
    if (kind === QUESTION) inQuery = true;
    kinds |= kind;
    previous = kind;
  }
  const end = at;
  // Nothing of the fragment counts, but it is part of the URL: what the parser would change is left to it.
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    kinds |= code > 0x7f ? REFUSED : TARGET_CHARACTER[code]! & REFUSED;
  }
  // The parser escapes apostrophes in queries.
  return (kinds & REFUSED) !== 0 || ((kinds & APOSTROPHE) !== 0 && inQuery) ? -1 : end;
}

/**
 * Where the authority ends, if scheme, host and port are plain ones that the parser would leave as they are and
 * a slash follows; -1 otherwise.
 */
function authorityEnd(text: string): number {
  const hostStart = text.startsWith('https://') ? 8 : text.startsWith('http://') ? 7 : -1;
  if (hostStart < 0) return -1;
  let at = hostStart;
  let label = hostStart;
  let code = text.charCodeAt(at);
  for (; code < 0x80 && HOST_CHARACTER[code] === 1; code = text.charCodeAt(++at)) {
    if (code === 0x2e) label = at + 1;
    // "xn--" must be valid punycode; any "--" is left to the parser.
    else if (code === 0x2d && text.charCodeAt(at + 1) === 0x2d) return -1;
  }
  // A last label that starts with a digit may make the host an IPv4 address in one of its many spellings.
  const initial = text.charCodeAt(label);
  if (at === label || !(initial >= 0x61 && initial <= 0x7a)) return -1;
  if (code === 0x3a) {
    const port = at + 1;
    let value = 0;
    for (
      code = text.charCodeAt(++at);
      code >= 0x30 && code <= 0x39 && at - port < 5;
      code = text.charCodeAt(++at)
    ) {
      value = value * 10 + code - 0x30;
    }
    // Default ports are folded, leading zeros dropped.
    if (
      at === port ||
      text.charCodeAt(port) === 0x30 ||
      value > 0xffff ||
      value === (hostStart === 8 ? 443 : 80)
    ) {
      return -1;
    }
  }
  return code === 0x2f ? at : -1;
}
