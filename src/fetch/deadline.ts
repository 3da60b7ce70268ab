/** For the whole attempt: connecting, headers, body, all hops. */
export const DEFAULT_DEADLINE_MS = 10_000;
