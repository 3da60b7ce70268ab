const BEYOND_ASCII = /[\u0080-\u00ff]/;
const BEYOND_OCTETS = /[^\p{ASCII}\u0080-\u00ff]/u;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * The text of a `Location` field. HTTP libraries pass each octet as one character. Octets beyond ASCII are read as
 * UTF-8 if they are valid UTF-8.
 */
export function locationText(location: string): string {
  if (!BEYOND_ASCII.test(location) || BEYOND_OCTETS.test(location)) return location;
  try {
    return utf8.decode(Uint8Array.from(location, (character) => character.charCodeAt(0)));
  } catch {
    return location;
  }
}
