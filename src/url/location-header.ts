const BEYOND_ASCII = /[\u0080-\u00ff]/;
const BEYOND_OCTETS = /[^\p{ASCII}\u0080-\u00ff]/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a `Location` field. Fields arrive with every octet as one character; a URL with octets beyond ASCII is UTF-8 if it decodes.
 */
export function locationText(location: string): string {
  if (!BEYOND_ASCII.test(location) || BEYOND_OCTETS.test(location)) return location;
  try {
    return utf8.decode(Buffer.from(location, 'latin1'));
  } catch {
    return location;
  }
}
