/** RFC 6585 §4 and RFC 9110 §15.6.4: the statuses whose `Retry-After` is the time to wait before a new request. */
export function asksForPause(status: number | undefined): status is 429 | 503 {
  return status === 429 || status === 503;
}

/** Header fields: `Headers`, or an object with names in lower case. */
export type HeaderFields =
  | { get(name: string): string | null | undefined }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A header field; several lines are joined by commas, as fetch joins them. */
export function fieldLines(headers: HeaderFields | undefined, name: string): string | undefined {
  if (headers === undefined) return undefined;
  const field: unknown = typeof headers.get === 'function' ? headers.get(name) : Reflect.get(headers, name);
  if (Array.isArray(field)) return field.join(', ');
  return typeof field === 'string' ? field : undefined;
}
