import type { Answer, AnswerHeaders, Copy, Failure, OriginRecord, Suspect } from '../../lifecycle/index.ts';
import { ROBOTS_PATH } from '../../url/index.ts';
import type { StoredRecord, StoredRoute } from './stored-record.ts';

/** An origin record in the form it is stored in. What is undefined is left out by `JSON.stringify`. */
export function toStored(
  { origin, answer, copy, failure, site }: OriginRecord,
  { maxBodyBytes, keptMs }: { readonly maxBodyBytes: number; readonly keptMs: number },
): StoredRecord {
  return {
    origin,
    answer: answer && storedAnswer(answer, origin),
    copy: copy && storedCopy(copy, answer, origin, maxBodyBytes),
    failure: failure && storedFailure(failure, origin),
    site,
    keptMs: keptMs === 0 ? undefined : keptMs,
  };
}

type Route = Pick<Answer, 'finalUrl' | 'hops'>;

function storedRoute({ finalUrl, hops }: Route, origin: string): StoredRoute {
  return {
    finalUrl: finalUrl === origin + ROBOTS_PATH ? undefined : finalUrl,
    hops: hops === 0 ? undefined : hops,
  };
}

function storedAnswer(answer: Answer, origin: string): NonNullable<StoredRecord['answer']> {
  const { kind, status, fetchedAt, staleAt } = answer;
  return {
    kind,
    status: status === 200 ? undefined : status,
    fetchedAt,
    staleAt,
    ...storedRoute(answer, origin),
    headers: answer.headers,
    redirects: answer.redirects,
    suspect: answer.suspect,
    ...(answer.kind === 'rules' ? { notModified: answer.notModified } : {}),
    ...(answer.kind === 'unavailable'
      ? { reason: answer.reason, since: answer.since === fetchedAt ? undefined : answer.since }
      : {}),
  };
}

function storedCopy(
  copy: Copy,
  answer: Answer | undefined,
  origin: string,
  maxBodyBytes: number,
): NonNullable<StoredRecord['copy']> {
  const { body, truncated, status, fetchedAt, etag, lastModified, contentType, suspect } = copy;
  return {
    ...storedBody(body),
    octets: body.length,
    cutAt: truncated ? maxBodyBytes : undefined,
    status: status === 200 ? undefined : status,
    fetchedAt: fetchedAt === answer?.fetchedAt ? undefined : fetchedAt,
    ...storedRoute(copy, origin),
    etag,
    lastModified,
    contentType,
    suspect,
  };
}

function storedFailure(failure: Failure, origin: string): NonNullable<StoredRecord['failure']> {
  const { since, at, attempts, retryAt, retryAfterMs, status, error } = failure;
  const { headers, redirects, suspect } = failure;
  return {
    since,
    at,
    attempts,
    retryAt,
    retryAfterMs,
    status,
    error,
    headers,
    redirects,
    suspect,
    ...storedRoute(failure, origin),
  };
}

/** A BOM is part of the file. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function storedBody(body: Uint8Array): { text: string } | { base64: string } {
  const base64Length = Math.ceil(body.length / 3) * 4 + 2;
  try {
    const text = utf8.decode(body);
    if (Buffer.byteLength(JSON.stringify(text)) <= base64Length) return { text };
  } catch {
    // Octets that are no UTF-8.
  }
  return { base64: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64') };
}

/** The record that was stored; `undefined` when its file is not all there. */
export function toRecord({ origin, answer, copy, failure, site }: StoredRecord): OriginRecord | undefined {
  const route = ({ finalUrl, hops }: StoredRoute): Route => ({
    finalUrl: finalUrl ?? origin + ROBOTS_PATH,
    hops: hops ?? 0,
  });
  const body = copy === undefined ? undefined : bodyOf(copy);
  const fetchedAt = copy?.fetchedAt ?? answer?.fetchedAt;
  if (copy !== undefined && (body === undefined || fetchedAt === undefined)) return undefined;
  return {
    origin,
    ...(answer === undefined ? {} : { answer: toAnswer(answer, route(answer)) }),
    ...(copy === undefined || body === undefined || fetchedAt === undefined
      ? {}
      : { copy: toCopy(copy, body, fetchedAt, route(copy)) }),
    ...(failure === undefined ? {} : { failure: toFailure(failure, route(failure)) }),
    ...(site === undefined ? {} : { site }),
  };
}

function toAnswer(stored: NonNullable<StoredRecord['answer']>, route: Route): Answer {
  const { kind, status = 200, fetchedAt, staleAt, reason, since = fetchedAt } = stored;
  const base = { status, fetchedAt, staleAt, ...route, ...toCourse(stored), ...suspicion(stored) };
  switch (kind) {
    case 'rules':
      return { kind, ...base, ...(stored.notModified === undefined ? {} : { notModified: true }) };
    case 'unavailable':
      return { kind, ...base, since, ...(reason === undefined ? {} : { reason }) };
    case 'restricted':
      return { kind, ...base };
  }
}

function suspicion({ suspect }: { readonly suspect?: Suspect | undefined }): { readonly suspect?: Suspect } {
  return suspect === undefined ? {} : { suspect };
}

const FIELDS = [
  'cacheControl',
  'expires',
  'date',
  'age',
  'etag',
  'lastModified',
  'contentType',
  'retryAfter',
  'location',
] as const satisfies readonly (keyof AnswerHeaders)[];

function toCourse({
  headers,
  redirects,
}: NonNullable<StoredRecord['answer' | 'failure']>): Pick<Answer, 'headers' | 'redirects'> {
  const kept: { -readonly [Field in keyof AnswerHeaders]: AnswerHeaders[Field] } = {};
  for (const field of FIELDS) {
    const value = headers?.[field];
    if (value !== undefined) kept[field] = value;
  }
  return {
    ...(headers === undefined ? {} : { headers: kept }),
    ...(redirects === undefined ? {} : { redirects }),
  };
}

function toCopy(
  stored: NonNullable<StoredRecord['copy']>,
  body: Uint8Array,
  fetchedAt: number,
  route: Route,
): Copy {
  const { cutAt, status = 200, etag, lastModified, contentType } = stored;
  return {
    body,
    truncated: cutAt !== undefined,
    status,
    fetchedAt,
    ...route,
    ...(etag === undefined ? {} : { etag }),
    ...(lastModified === undefined ? {} : { lastModified }),
    ...(contentType === undefined ? {} : { contentType }),
    ...suspicion(stored),
  };
}

function toFailure(stored: NonNullable<StoredRecord['failure']>, route: Route): Failure {
  const { since, at, attempts, retryAt, retryAfterMs, status, error } = stored;
  return {
    since,
    at,
    attempts,
    retryAt,
    error,
    ...route,
    ...toCourse(stored),
    ...suspicion(stored),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(status === undefined ? {} : { status }),
  };
}

function bodyOf({ text, base64, octets }: NonNullable<StoredRecord['copy']>): Uint8Array | undefined {
  if ((text === undefined) === (base64 === undefined)) return undefined;
  // A copy of its own: small `Buffer`s are parts of a large one, which they would keep in memory.
  const body =
    text === undefined ? new Uint8Array(Buffer.from(base64 ?? '', 'base64')) : new TextEncoder().encode(text);
  return body.length === octets ? body : undefined;
}
