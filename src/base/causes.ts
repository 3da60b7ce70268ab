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
