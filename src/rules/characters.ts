const oneByOne = new TextDecoder('latin1');

/** Decodes each octet to one character, so that offsets in the text are those in the file. */
export function asCharacters(octets: Uint8Array): string {
  return oneByOne.decode(octets);
}
