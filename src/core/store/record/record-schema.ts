/**
 * The schema of records from a store or an evidence file. It uses the checks of options: zod reports more about a fault,
 * but would be an eighth of a Worker.
 */
import {
  type Check,
  predicate,
  fields,
  isText,
  listOf,
  oneOf,
  optional,
  passes,
  wholeNumber,
} from '../../base/index.ts';
import {
  type RobotsResponseHeaders,
  type ConclusiveResponse,
  type Copy,
  type Failure,
  type OriginRecord,
  type Redirect,
  SUSPECTS,
  type UnavailableReason,
} from '../../lifecycle/index.ts';
import { bytesOfBase64 } from './stored-body.ts';

const utf8 = new TextEncoder();

/** A stored record, with the settings of its writer that a reader must know. */
export interface StoredRecord {
  readonly record: OriginRecord;
  /** The limit at which a truncated copy was cut. */
  readonly maxBodyBytes: number;
  /** For a record without a copy: how long its writer's profile would have kept one. */
  readonly keepCopyOnUnavailableMs: number;
}

/** Bytes, written as text if that is not longer than base64. */
export type WrittenBody = string | { readonly base64: string };

/** A check for each member; optional ones included. */
type Checks<Value> = Readonly<Record<keyof Value, Check>>;

const text = (maxLength: number, pattern?: RegExp): Check =>
  predicate(
    'a text within its bounds',
    (value) => isText(value) && value.length <= maxLength && (pattern?.test(value) ?? true),
  );
const flag = predicate('true or false', (value) => typeof value === 'boolean');
const onlyTrue = predicate('true', (value) => value === true);

/** Epoch milliseconds, or a span of them. The latest is the latest that a `Date` can hold. */
export const time: Check = predicate(
  'a time',
  (value) => typeof value === 'number' && value >= 0 && value <= 8.64e15,
);
export const status: Check = wholeNumber(100, 999, 'a status');
export const suspect: Check = oneOf(SUSPECTS);
export const unavailableReason: Check = oneOf([
  'too-many-redirects',
  'redirect-loop',
  'disallowed-redirect',
] satisfies readonly UnavailableReason[]);
export const sha256: Check = text(64, /^[0-9a-f]{64}$/);
export const errorCode: Check = text(64, /^[A-Z][A-Z0-9_]*$/);

const base64 = fields({
  base64: predicate(
    'base64',
    (value) => isText(value) && value.length % 4 === 0 && /^[0-9A-Za-z+/]*={0,2}$/.test(value),
  ),
} satisfies Checks<Exclude<WrittenBody, string>>);
export const body: Check = (value, path) => {
  if (!isText(value)) base64(value, path);
};

// These are sent in requests, so they must be valid field values.
const field = optional(text(1_024, /^[\t\u0020-\u007e\u0080-\u00ff]*$/));
// The length after the cut of `keptHeaders`.
const shown = text(1_025);

export const headers: Check = fields({
  cacheControl: field,
  expires: field,
  date: field,
  age: field,
  etag: field,
  lastModified: field,
  contentType: field,
  retryAfter: field,
  location: optional(shown),
} satisfies Checks<RobotsResponseHeaders>);

const redirects = listOf(
  fields({ url: shown, status, location: shown } satisfies Checks<Redirect>),
  'at most 100 redirects',
  0,
  100,
);
const route = {
  finalUrl: text(65_536, /^(?:https?|ftp):\/\/\S+$/),
  hops: wholeNumber(0, 100, 'a number of redirects'),
  suspect: optional(suspect),
};
const course = { ...route, headers: optional(headers), redirects: optional(redirects) };

const anyResponse = { ...course, kind: text(16), status, fetchedAt: time, staleAt: time };
type ResponseOf<Kind> = Checks<Extract<ConclusiveResponse, { readonly kind: Kind }>>;
const answers = new Map<unknown, Check>([
  ['rules', fields({ ...anyResponse, notModified: optional(onlyTrue) } satisfies ResponseOf<'rules'>)],
  [
    'unavailable',
    fields({
      ...anyResponse,
      reason: optional(unavailableReason),
      since: time,
    } satisfies ResponseOf<'unavailable'>),
  ],
  ['restricted', fields(anyResponse satisfies ResponseOf<'restricted'>)],
]);
const notAResponse = predicate('a conclusive answer', () => false);
const answer: Check = (value, path) =>
  (answers.get(Reflect.get(Object(value), 'kind')) ?? notAResponse)(value, path);

const copyWithoutBody = {
  ...route,
  sha256: optional(sha256),
  truncated: flag,
  status,
  fetchedAt: time,
  etag: field,
  lastModified: field,
  contentType: field,
} satisfies Checks<Omit<Copy, 'body'>>;

const failure = fields({
  ...course,
  since: time,
  at: time,
  attempts: wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a number of attempts'),
  retryAt: time,
  retryAfterMs: optional(time),
  status: optional(status),
  error: errorCode,
} satisfies Checks<Failure>);

/** The only description of an {@link OriginRecord} from outside. Unknown members and values out of bounds are refused. */
function recordWith(copy: Check): Check {
  return fields({
    origin: text(65_536),
    answer: optional(answer),
    copy: optional(copy),
    failure: optional(failure),
    site: optional(fields({ reachable: flag, at: time })),
  } satisfies Checks<OriginRecord>);
}

export const recordWithoutBody: Check = recordWith(fields(copyWithoutBody));

interface Written extends Omit<StoredRecord, 'record'> {
  readonly record: Omit<OriginRecord, 'copy'> & {
    readonly copy?: Omit<Copy, 'body'> & { readonly body: WrittenBody };
  };
}

const written = fields({
  record: recordWith(fields({ ...copyWithoutBody, body })),
  maxBodyBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a number of bytes'),
  keepCopyOnUnavailableMs: time,
} satisfies Checks<StoredRecord>);

/** A stored record with its body as bytes; `undefined` for anything else. */
export function readStoredRecord(value: unknown): StoredRecord | undefined {
  if (!isWritten(value)) return undefined;
  const { copy, ...rest } = value.record;
  const record = copy === undefined ? rest : { ...rest, copy: { ...copy, body: bytesOf(copy.body) } };
  return { ...value, record };
}

function isWritten(value: unknown): value is Written {
  return passes(written, value);
}

/** The bytes of a body that {@link body} allows. */
export function bytesOf(written: WrittenBody): Uint8Array {
  return isText(written) ? utf8.encode(written) : bytesOfBase64(written.base64);
}
