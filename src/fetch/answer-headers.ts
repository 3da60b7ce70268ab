import { ANSWER_FIELDS, type AnswerHeaders } from '../lifecycle/index.ts';
import type { ResponseHeaders, TransportResponse } from './transport.ts';

/** A field longer than this is noise or malice; it would be kept with the record, so it is ignored. */
const MAX_FIELD_LENGTH = 1_024;

/** What is kept of a header section. */
export function answerHeaders({
  status,
  headers,
}: Pick<TransportResponse, 'status' | 'headers'>): AnswerHeaders {
  const kept: { -readonly [Key in keyof AnswerHeaders]: AnswerHeaders[Key] } = {};
  for (const [key, name] of ANSWER_FIELDS) {
    const value = boundedField(headers, name);
    if (value !== undefined) kept[key] = value;
  }
  const location = status >= 300 && status < 400 ? headers.get('location') : undefined;
  if (location !== undefined) kept.location = shown(location);
  return kept;
}

export function boundedField(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers.get(name);
  return value === undefined || value.length > MAX_FIELD_LENGTH ? undefined : value;
}

/** A URL that nothing is decided by: what is very long is cut. */
export function shown(url: string): string {
  return url.length > MAX_FIELD_LENGTH ? `${url.slice(0, MAX_FIELD_LENGTH)}…` : url;
}
