import { type HeaderFields, headerField } from '../base/index.ts';

/** RFC 6585 §4 and RFC 9110 §15.6.4: the statuses whose `Retry-After` is the time to wait before a new request. */
export const BUSY_STATUSES: readonly number[] = [429, 503];

/** Whether a response with this status asks for a pause. */
export function asksForPause(
  status: number | undefined,
  statuses: readonly number[] = BUSY_STATUSES,
): status is number {
  return status !== undefined && statuses.includes(status);
}

/** A price is the site's text: longer ones are truncated. */
const MAX_PRICE_CHARACTERS = 200;

/** The price that a 402 states: Cloudflare's `crawler-price`, or the first that x402 accepts (`payment-required`). */
export function priceIn(headers: HeaderFields | undefined): string | undefined {
  const price = headerField(headers, 'crawler-price') ?? offerIn(headerField(headers, 'payment-required'));
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
