/** `String.fromCharCode` takes its characters as arguments, and engines limit their number. */
const OCTETS_AT_ONCE = 8_192;

/** Octets as base64. */
export function base64OfOctets(octets: Uint8Array): string {
  let text = '';
  for (let at = 0; at < octets.length; at += OCTETS_AT_ONCE) {
    text += String.fromCharCode(...octets.subarray(at, at + OCTETS_AT_ONCE));
  }
  return btoa(text);
}

/** @throws DOMException when the text is no base64. */
export function octetsOfBase64(base64: string): Uint8Array {
  const text = atob(base64);
  const octets = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) octets[at] = text.charCodeAt(at);
  return octets;
}
