/** No chain of wrappers that anybody made is longer; one that runs in a circle ends. */
const MAX_ERRORS = 32;

/**
 * What was thrown and everything it wraps, from the outside in: `fetch` hides what failed in `cause`, clients and retries
 * wrap again, and a connection tried over several addresses keeps each failure in the `errors` of an `AggregateError`.
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
