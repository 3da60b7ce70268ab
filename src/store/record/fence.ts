import { RobotsInvalidOptionsError } from '../../base/index.ts';

/** Ahead of a value that was written under a lease: this octet, the length of the token in one octet, and the token. */
const FENCED = 'f'.charCodeAt(0);
const MAX_TOKEN_BYTES = 255;
const MARK_BYTES = 2;

/** Octets that {@link withFence} adds at most. */
export const MAX_FENCE_BYTES: number = MARK_BYTES + MAX_TOKEN_BYTES;

/**
 * A packed value, and the token of the lease it is written under.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for what is no token.
 */
export function withFence(packed: Buffer, token: string | undefined): Buffer {
  if (token === undefined) return packed;
  if (!/^[!-~]+$/.test(token) || token.length > MAX_TOKEN_BYTES) {
    throw new RobotsInvalidOptionsError(
      `Expected \`fence\` to be the token of a lease, 1 to ${MAX_TOKEN_BYTES} printable ASCII characters`,
    );
  }
  return Buffer.concat([Buffer.of(FENCED, token.length), Buffer.from(token, 'latin1'), packed]);
}

/** The token that the stored octets were written under, if any. */
export function fenceOf(stored: Buffer): string | undefined {
  if (stored[0] !== FENCED) return undefined;
  return stored.toString('latin1', MARK_BYTES, MARK_BYTES + (stored[1] ?? 0));
}

/** The packed value alone. */
export function withoutFence(stored: Buffer): Buffer {
  return stored[0] === FENCED ? stored.subarray(MARK_BYTES + (stored[1] ?? 0)) : stored;
}
