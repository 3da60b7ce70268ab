import { RobotsInvalidOptionsError } from '../../base/index.ts';

/**
 * Marks a value written under a lease: this octet, the length of the token in one octet, and the token come before
 * it.
 */
const FENCED = 'f'.charCodeAt(0);
const MAX_TOKEN_BYTES = 255;
const MARK_BYTES = 2;

/** The most octets that {@link withFence} adds. */
export const MAX_FENCE_BYTES: number = MARK_BYTES + MAX_TOKEN_BYTES;

/**
 * A compressed value behind the token of the lease that it is written under.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an invalid token.
 */
export function withFence(compressed: Buffer, token: string | undefined): Buffer {
  if (token === undefined) return compressed;
  if (!/^[!-~]+$/.test(token) || token.length > MAX_TOKEN_BYTES) {
    throw new RobotsInvalidOptionsError(
      `Expected \`fence\` to be the token of a lease, 1 to ${MAX_TOKEN_BYTES} printable ASCII characters`,
    );
  }
  return Buffer.concat([Buffer.of(FENCED, token.length), Buffer.from(token, 'latin1'), compressed]);
}

/** The token of the lease that the stored value was written under, if any. */
export function fenceOf(stored: Buffer): string | undefined {
  if (stored[0] !== FENCED) return undefined;
  return stored.toString('latin1', MARK_BYTES, MARK_BYTES + (stored[1] ?? 0));
}

/** The compressed value without its fence. */
export function withoutFence(stored: Buffer): Buffer {
  return stored[0] === FENCED ? stored.subarray(MARK_BYTES + (stored[1] ?? 0)) : stored;
}
