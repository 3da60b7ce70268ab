/** Values that several modules share. */

/** The version of the package. A test compares it with package.json. */
export const VERSION = '0.1.0';

/** Default User-Agent. It names no crawler, so a client without `agent` warns. */
export const DEFAULT_AGENT: string = `canfetch/${VERSION}`;

/** Milliseconds for a whole attempt: connecting, headers, body, all redirects. */
export const DEFAULT_DEADLINE_MS = 10_000;

/** Bytes. RFC 9309 §2.5: "The parsing limit MUST be at least 500 kibibytes". Also the smallest value allowed. */
export const DEFAULT_MAX_BODY_BYTES = 512_000;

/** Attempts in flight at the same time. */
export const DEFAULT_CONCURRENCY = 32;
