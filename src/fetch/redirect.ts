import { REDIRECT_LOCATION, REDIRECT_SCHEME } from './codes.ts';

/** 300, 305, 306 and whatever else begins with 3 are answers, not directions. */
export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308;
}

/** Where a redirect leads, without userinfo and fragment; or the code of why it leads nowhere. */
export function redirectTarget(
  location: string | undefined,
  base: URL,
): URL | typeof REDIRECT_LOCATION | typeof REDIRECT_SCHEME {
  if (location === undefined || location === '') return REDIRECT_LOCATION;
  const reference = asUtf8(location);
  if (!URL.canParse(reference, base.href)) return REDIRECT_LOCATION;
  const url = new URL(reference, base);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return REDIRECT_SCHEME;
  url.username = '';
  url.password = '';
  url.hash = '';
  return url;
}

const BEYOND_ASCII = /[\u0080-\u00ff]/;
const BEYOND_OCTETS = /[^\p{ASCII}\u0080-\u00ff]/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** Fields arrive with every octet as one character; a URL with octets beyond ASCII is UTF-8 if it decodes. */
function asUtf8(location: string): string {
  if (!BEYOND_ASCII.test(location) || BEYOND_OCTETS.test(location)) return location;
  try {
    return utf8.decode(Buffer.from(location, 'latin1'));
  } catch {
    return location;
  }
}
