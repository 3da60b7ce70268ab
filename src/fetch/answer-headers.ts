import { ANSWER_FIELDS, type AnswerHeaders } from '../lifecycle/index.ts';
import type { ResponseHeaders, TransportResponse } from './transport.ts';

/** Longest field that is kept. It would be stored with the record, so a longer one is ignored. */
const MAX_FIELD_LENGTH = 1_024;

/** Keeps the fields of {@link AnswerHeaders} from a header section. */
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
  if (location !== undefined) kept.location = shortened(location);
  return kept;
}

export function boundedField(headers: ResponseHeaders, name: string): string | undefined {
  const value = headers.get(name);
  return value === undefined || value.length > MAX_FIELD_LENGTH ? undefined : value;
}

/** A URL for reports, cut to the length that is kept. */
export function shortened(url: string): string {
  return url.length > MAX_FIELD_LENGTH ? `${url.slice(0, MAX_FIELD_LENGTH)}…` : url;
}
