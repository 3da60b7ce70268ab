import { removeDotSegments } from '../url/index.ts';
import { REDIRECT_LOCATION, REDIRECT_SCHEME } from './failure.ts';

/**
 * Fetch standard: "A redirect status is a status that is 301, 302, 303, 307, or 308." 300, 305, 306 and all other 3xx
 * are not followed.
 */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/**
 * The URL of a redirect, without userinfo, fragment and dot segments; or the error code when the `Location` cannot be
 * followed.
 */
export function redirectTarget(
  location: string | undefined,
  base: URL,
): URL | typeof REDIRECT_LOCATION | typeof REDIRECT_SCHEME {
  if (location === undefined || location === '') return REDIRECT_LOCATION;
  let url: URL;
  try {
    url = new URL(removeDotSegments(new URL(locationText(location), base).href));
  } catch {
    return REDIRECT_LOCATION;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return REDIRECT_SCHEME;
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

const BEYOND_ASCII = /[\u0080-\u00ff]/;
const BEYOND_BYTES = /[^\p{ASCII}\u0080-\u00ff]/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a `Location` field. HTTP libraries pass each byte as one character. Bytes beyond ASCII are read as
 * UTF-8 if they are valid UTF-8.
 */
export function locationText(location: string): string {
  if (!BEYOND_ASCII.test(location) || BEYOND_BYTES.test(location)) return location;
  try {
    return utf8.decode(Uint8Array.from(location, (character) => character.charCodeAt(0)));
  } catch {
    return location;
  }
}
