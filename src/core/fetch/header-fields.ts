import { truncate } from '../base/index.ts';
import { RESPONSE_FIELDS, type RobotsResponseHeaders } from '../lifecycle/index.ts';
import type { ResponseHeaders, TransportResponse, FetchRobotsOptions } from './transport.ts';

/** Longest field that is kept. It would be stored with the record, so a longer one is ignored. */
const MAX_FIELD_LENGTH = 1_024;

/** Keeps the fields of {@link RobotsResponseHeaders} from a header section. */
export function keptHeaders({
  status,
  headers,
}: Pick<TransportResponse, 'status' | 'headers'>): RobotsResponseHeaders {
  const kept: { -readonly [Key in keyof RobotsResponseHeaders]: RobotsResponseHeaders[Key] } = {};
  for (const [key, name] of RESPONSE_FIELDS) {
    const value = boundedField(headers, name);
    if (value !== undefined) kept[key] = value;
  }
  const location = status >= 300 && status < 400 ? headers.get('location') : undefined;
  if (location !== undefined) kept.location = truncatedUrl(location);
  return kept;
}

export function boundedField(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers.get(name);
  return value === undefined || value.length > MAX_FIELD_LENGTH ? undefined : value;
}

/** A URL for reports, truncated to the length that is kept. */
export function truncatedUrl(url: string): string {
  return truncate(url, MAX_FIELD_LENGTH);
}

const ACCEPT = 'text/plain, text/*;q=0.9, */*;q=0.1';

/** The header fields of the request for `url`, and whether they make it conditional. */
export function requestFields(
  url: URL,
  options: FetchRobotsOptions,
): { readonly fields: Record<string, string>; readonly conditional: boolean } {
  const { userAgent, headersFor, transport } = options;
  const fields: Record<string, string> = { 'user-agent': userAgent, accept: ACCEPT };
  if (transport.acceptEncoding !== undefined) fields['accept-encoding'] = transport.acceptEncoding;
  // Fields that the caller gave for one origin are sent to no other.
  for (const [name, value] of Object.entries(headersFor?.(url.origin) ?? {}))
    fields[name.toLowerCase()] = value;
  return { fields, conditional: addValidators(fields, url, options) };
}

/** Adds the validators of the copy, if `url` issued them. */
function addValidators(
  fields: Record<string, string>,
  url: URL,
  { copy, profile }: FetchRobotsOptions,
): boolean {
  if (copy === undefined || !profile.conditionalRequests || copy.finalUrl !== url.href) return false;
  if (copy.etag !== undefined) fields['if-none-match'] = copy.etag;
  if (copy.lastModified !== undefined) fields['if-modified-since'] = copy.lastModified;
  return copy.etag !== undefined || copy.lastModified !== undefined;
}

/**
 * Whether the response is that of a proxy, which marked it as its own: 407 (RFC 9110 §15.5.8: "the client needs to
 * authenticate itself in order to use a proxy"), `Proxy-Status` with `error` (RFC 9209 §2.1.1: "When present, it
 * indicates that an intermediary encountered an issue when obtaining this response"), or Squid's own field.
 */
export function isProxyError({ status, headers, mayBeFromProxy, isFromProxy }: TransportResponse): boolean {
  if (isFromProxy === true) return true;
  if (mayBeFromProxy !== true) return false;
  if (status === 407 || headers.get('x-squid-error') !== undefined) return true;
  const proxyStatus = boundedField(headers, 'proxy-status')?.replace(QUOTED, '');
  return proxyStatus !== undefined && /;\s*error=/i.test(proxyStatus);
}

/** An sf-string. It may hold any text. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
