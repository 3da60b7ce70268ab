import { builtin } from './builtin.ts';

/** The SHA-256 of octets, in hex: what `sha256sum` prints. */
export async function sha256Of(octets: Uint8Array): Promise<string> {
  const known = sha256Now(octets);
  if (known !== undefined) return known;
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(octets));
  return Array.from(new Uint8Array(digest), (octet) => octet.toString(16).padStart(2, '0')).join('');
}

/** {@link sha256Of} at once; `undefined` in browsers and Workers, whose digests are asynchronous. */
export function sha256Now(octets: Uint8Array): string | undefined {
  return builtin('node:crypto')?.createHash('sha256').update(octets).digest('hex');
}
