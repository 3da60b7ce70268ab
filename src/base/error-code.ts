/** What came back is not the protocol that was spoken. */
export const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** Something broke and gave no code of its own. */
export const FETCH_FAILED = 'ERR_ROBOTS_FETCH_FAILED';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** `fetch failed` wraps once, proxies and retries wrap again; no chain of causes is followed for ever. */
const MAX_DEPTH = 6;

/**
 * The literal code of whatever was thrown. `fetch` hides it in `cause`, a connection tried over several
 * addresses in the `errors` of an `AggregateError`.
 */
export function codeOf(error: unknown): string {
  return findCode(error, 0) ?? FETCH_FAILED;
}

function findCode(error: unknown, depth: number): string | undefined {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return undefined;
  if ('code' in error && typeof error.code === 'string' && CODE.test(error.code)) return error.code;
  // undici names the parser's complaint only sometimes.
  if ('name' in error && error.name === 'HTTPParserError') return MALFORMED;
  if ('cause' in error) {
    const code = findCode(error.cause, depth + 1);
    if (code !== undefined) return code;
  }
  if (!('errors' in error) || !Array.isArray(error.errors)) return undefined;
  for (const inner of error.errors.slice(0, MAX_DEPTH)) {
    const code = findCode(inner, depth + 1);
    if (code !== undefined) return code;
  }
  return undefined;
}
