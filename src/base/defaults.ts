/** What holds where nobody says otherwise, and several rooms need to know. */

/** For a whole attempt: connecting, headers, body, all hops. */
export const DEFAULT_DEADLINE_MS = 10_000;

/** RFC 9309 §2.5: "The parsing limit MUST be at least 500 kibibytes". It is the least that can be set, too. */
export const DEFAULT_MAX_BODY_BYTES = 512_000;

/** Origins asked at the same time. */
export const DEFAULT_CONCURRENCY = 32;
