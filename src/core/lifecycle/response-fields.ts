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

/** A price is the site's text: longer ones are truncated. */
const MAX_PRICE_CHARACTERS = 200;

/** The price that a 402 states: Cloudflare's `crawler-price`, or the first that x402 accepts (`payment-required`). */
export function priceIn(headers: HeaderFields | undefined): string | undefined {
  const price = fieldLines(headers, 'crawler-price') ?? offerIn(fieldLines(headers, 'payment-required'));
  return price?.slice(0, MAX_PRICE_CHARACTERS);
}

function offerIn(field: string | undefined): string | undefined {
  if (field === undefined) return undefined;
  try {
    const accepts: unknown = Reflect.get(Object(JSON.parse(atob(field))), 'accepts');
    const offer: unknown = Array.isArray(accepts) ? accepts[0] : undefined;
    const parts = ['amount', 'asset', 'network'].map((name) => Reflect.get(Object(offer), name) as unknown);
    return parts.filter((part) => typeof part === 'string').join(' ') || undefined;
  } catch {
    return undefined;
  }
}
