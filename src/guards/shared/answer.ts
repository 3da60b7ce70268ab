/** The part of a site's answer that guards read, in the forms of all libraries. */
import { isRedirect } from '../../core/fetch/redirect.ts';
import type { UsageOptions } from '../../core/rules/index.ts';

/** Header fields by lower-case name. Of several lines of a field, the first is returned, or all of them joined. */
export interface Fields {
  get(name: string): string | null;
}

/** Headers as Node returns them: by lower-case name. */
export type NodeHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The header fields of an answer. */
export type AnswerFields = Fields | NodeHeaders;

/** The value of a field that has one line; the first line of several. */
export function fieldOf(headers: AnswerFields, name: string): string | null {
  if (isFields(headers)) return headers.get(name);
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

/** The header fields about the use of content. All lines of a field are joined, as the standards require. */
export function usageHeaders(headers: AnswerFields): UsageOptions {
  const get = (name: string): string | null => {
    if (isFields(headers)) return headers.get(name);
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : (value ?? null);
  };
  return { contentUsage: get('content-usage'), contentSignal: get('content-signal') };
}

/** The price that a 402 names: Cloudflare's `crawler-price`, or the first that x402 accepts. */
export function priceIn(headers: AnswerFields): string | undefined {
  const price = fieldOf(headers, 'crawler-price');
  if (price !== null) return price;
  const required = fieldOf(headers, 'payment-required');
  if (required === null) return undefined;
  try {
    const { accepts }: { accepts?: unknown } = JSON.parse(atob(required));
    const first: unknown = Array.isArray(accepts) ? accepts[0] : undefined;
    const [amount, asset, network] = ['amount', 'asset', 'network'].map((name) =>
      String(Reflect.get(Object(first), name) ?? ''),
    );
    return [amount, asset, network].filter((part) => part !== '').join(' ');
  } catch {
    return undefined;
  }
}

/** Whether an answer leads on. Fetch standard, step 4: "If locationURL is null, then return response." */
export function redirects(status: number, headers: AnswerFields): boolean {
  return isRedirect(status) && fieldOf(headers, 'location') !== null;
}

function isFields(headers: AnswerFields): headers is Fields {
  return typeof headers.get === 'function';
}
