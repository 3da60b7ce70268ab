/** Longer than any real chain of wrappers. The limit also ends a circular chain. */
const MAX_ERRORS = 32;

/**
 * The thrown error and all errors that it wraps, outermost first: `fetch` has the reason in `cause`, clients and
 * retries wrap again, and a connection tried over several addresses has one failure each in the `errors` of an
 * `AggregateError`.
 */
export function causesOf(error: unknown): ReadonlySet<object> {
  const found = new Set<object>();
  const visit = (each: unknown): void => {
    if (typeof each !== 'object' || each === null || found.has(each) || found.size >= MAX_ERRORS) return;
    found.add(each);
    visit(Reflect.get(each, 'cause'));
    const errors: unknown = Reflect.get(each, 'errors');
    if (Array.isArray(errors)) errors.forEach(visit);
  };
  visit(error);
  return found;
}

/** The response is not valid in its protocol. */
export const MALFORMED = 'ERR_ROBOTS_MALFORMED';

/** An error without a code of its own. */
export const FETCH_FAILED = 'ERR_ROBOTS_FETCH_FAILED';

const CODE = /^[A-Z][A-Z0-9_]{1,63}$/;

/** The literal code of a thrown value, or of the outermost wrapped error that has one. */
export function codeOf(error: unknown): string {
  for (const each of causesOf(error)) {
    // Some versions of undici give a parser error a code (`HPE_INVALID_CONSTANT`), others none.
    if (Reflect.get(each, 'name') === 'HTTPParserError') return MALFORMED;
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && CODE.test(code)) return code;
  }
  return FETCH_FAILED;
}
