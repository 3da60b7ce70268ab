import { builtin } from '../base/index.ts';

export type ContentCoding = 'gzip' | 'deflate' | 'br';

/** The most codings that are undone. Each one amplifies again, and real servers use two at most. */
const MAX_CODINGS = 4;

/**
 * The codings of a `Content-Encoding` field in the order in which they were applied; `[]` for none; `undefined` when
 * one of them is unknown.
 */
export function contentCodings(field: string | undefined): ContentCoding[] | undefined {
  const codings: ContentCoding[] = [];
  for (const item of field === undefined ? [] : field.split(',')) {
    switch (item.trim().toLowerCase()) {
      case '':
      case 'identity':
        break;
      case 'gzip':
      case 'x-gzip':
        codings.push('gzip');
        break;
      case 'deflate':
        codings.push('deflate');
        break;
      case 'br':
        codings.push('br');
        break;
      default:
        return undefined;
    }
    if (codings.length > MAX_CODINGS) return undefined;
  }
  return codings;
}

/** The most items of `Content-Encoding` that undici's `fetch` takes. */
const MAX_ITEMS_OF_UNDICI = 5;

let isJoining = false;

/**
 * Keeps a response with many content codings from ending the process. The `fetch` of Node 20 (undici 6.24) rejects such a
 * response, but has made a stream for its body, which raises an uncaught exception when the connection ends. undici
 * publishes the fields first. Joined, they name one unknown coding, and the body is passed on as it came. Fetch standard,
 * "handle content codings": "If codings are not supported, then return bytes."
 */
export function surviveManyCodings(): void {
  if (isJoining) return;
  isJoining = true;
  builtin('node:diagnostics_channel')?.subscribe('undici:request:headers', joinManyCodings);
}

function joinManyCodings(message: unknown): void {
  const fields: unknown = partOf(message, 'response', 'headers');
  if (!Array.isArray(fields)) return;
  const lines: number[] = [];
  for (let at = 0; at + 1 < fields.length; at += 2) if (isContentEncoding(fields[at])) lines.push(at);
  const items = lines.flatMap((at) => String(fields[at + 1]).split(','));
  // Requests of other APIs of undici are left alone. Only a fetch sends this field.
  if (
    items.length <= MAX_ITEMS_OF_UNDICI ||
    !/sec-fetch-mode/i.test(String(partOf(message, 'request', 'headers')))
  )
    return;
  for (const at of lines.reverse()) fields.splice(at, 2);
  fields.push(Buffer.from('content-encoding'), Buffer.from(items.join(';'), 'latin1'));
}

function isContentEncoding(name: unknown): boolean {
  return name instanceof Uint8Array && name.length === 16 && /^content-encoding$/i.test(String(name));
}

function partOf(message: unknown, part: string, name: string): unknown {
  return Reflect.get(Object(Reflect.get(Object(message), part)), name);
}
