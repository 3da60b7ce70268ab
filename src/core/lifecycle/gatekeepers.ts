import { headerField, type HeaderFields } from '../base/index.ts';

/** The services before a site that respond in its place, and say so in the header of their response. */
export type Gatekeeper = 'cloudflare' | 'vercel' | 'aws-waf' | 'datadome' | 'akamai';

/** A gatekeeper, and whether it asks for a browser or refuses. */
export interface GatekeeperResponse {
  readonly gatekeeper: Gatekeeper;
  readonly kind: 'challenge' | 'blocked';
}

/** A header field by which a gatekeeper marks its own responses. */
interface Mark {
  readonly gatekeeper: Gatekeeper;
  readonly field: string;
  /** By value in lower case; `*` is any. */
  readonly kinds: Readonly<Record<string, GatekeeperResponse['kind']>>;
  /** @default any status */
  readonly statuses?: readonly number[];
}

/**
 * What shows a gatekeeper beyond doubt. Imperva is not among them: its `X-Iinfo` and cookies are in every response, and what
 * they contain is not documented.
 */
const MARKS: readonly Mark[] = [
  // "Detect a Challenge Page response": the field is "present and set to challenge".
  { gatekeeper: 'cloudflare', field: 'cf-mitigated', kinds: { challenge: 'challenge', block: 'blocked' } },
  { gatekeeper: 'vercel', field: 'x-vercel-mitigated', kinds: { challenge: 'challenge', deny: 'blocked' } },
  {
    gatekeeper: 'aws-waf',
    field: 'x-amzn-waf-action',
    kinds: { challenge: 'challenge', captcha: 'challenge' },
    statuses: [202, 405],
  },
  // "When APIServer blocks a request […] it also adds X-DD-B headers". `X-DataDome: protected` is in every response.
  { gatekeeper: 'datadome', field: 'x-dd-b', kinds: { '*': 'challenge' }, statuses: [401, 403] },
  // The server's own name stands only in responses that it makes itself.
  { gatekeeper: 'akamai', field: 'server', kinds: { akamaighost: 'blocked' }, statuses: [403] },
];

/** The gatekeeper that responded in place of the site. @param field Returns a header field by its name in lower case. */
export function gatekeeperOf(
  status: number | undefined,
  field: (name: string) => string | undefined,
): GatekeeperResponse | undefined {
  for (const { gatekeeper, field: name, kinds, statuses } of MARKS) {
    if (statuses !== undefined && (status === undefined || !statuses.includes(status))) continue;
    const value = field(name)?.trim().toLowerCase();
    if (value === undefined || value === '') continue;
    const kind = Object.hasOwn(kinds, value) ? kinds[value] : kinds['*'];
    if (kind !== undefined) return { gatekeeper, kind };
  }
  return undefined;
}

/** The gatekeeper of a page response. */
export function gatekeeperIn({
  status,
  headers,
}: {
  readonly status?: number;
  readonly headers?: HeaderFields;
}): Gatekeeper | undefined {
  return headers && gatekeeperOf(status, (name) => headerField(headers, name))?.gatekeeper;
}

/** Statuses by which sites refuse crawlers that their robots.txt allows. 999 is LinkedIn's. */
export const REFUSAL_STATUSES: readonly number[] = [401, 402, 403, 429, 451, 999];

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
