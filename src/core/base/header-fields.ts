type HeaderValue = string | number | readonly (string | number)[] | null | undefined;

/**
 * Header fields as libraries have them: `Headers`, an object with names in any case, pairs, a `Map`, or the list of Node's
 * `rawHeaders`.
 */
export type HeaderFields =
  | { get(name: string): unknown }
  | Iterable<readonly [string, HeaderValue]>
  | readonly string[]
  | Readonly<Record<string, HeaderValue>>;

/** The lines of a header field, in order. `Headers` has them joined to one. @param name In lower case. */
export function headerLines(headers: HeaderFields | undefined, name: string): readonly string[] {
  if (typeof headers !== 'object' || headers === null) return [];
  // A `Map` has names in any case.
  if (!(headers instanceof Map) && 'get' in headers && typeof headers.get === 'function')
    return linesOf(headers.get(name));
  if (Symbol.iterator in headers)
    return pairsIn(headers).flatMap(([each, value]) => (isNamed(each, name) ? linesOf(value) : []));
  // An object may have one field in two cases.
  return Object.entries(headers).flatMap(([key, value]) => (isNamed(key, name) ? linesOf(value) : []));
}

/** A header field; several lines are joined by commas, as `fetch` joins them. @param name In lower case. */
export function headerField(headers: HeaderFields | undefined, name: string): string | undefined {
  const lines = headerLines(headers, name);
  return lines.length > 1 ? lines.join(', ') : lines[0];
}

/** Names with their values, of pairs or of a list in which they alternate. */
export function pairsIn(headers: Iterable<unknown>): readonly (readonly unknown[])[] {
  const items = [...headers];
  if (typeof items[0] !== 'string') return items.map((item) => (Array.isArray(item) ? item : []));
  return items.flatMap((name, at) => (at % 2 === 0 ? [[name, items[at + 1]]] : []));
}

function linesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value === 'number') return [String(value)];
  return Array.isArray(value) ? value.flatMap(linesOf) : [];
}

/** @param name In lower case. */
export function isNamed(given: unknown, name: string): boolean {
  return typeof given === 'string' && given.length === name.length && given.toLowerCase() === name;
}
