export type ContentCoding = 'gzip' | 'deflate' | 'br';

/** The most codings that are undone. Each one amplifies again, and real servers use two at most. */
const MAX_CODINGS = 4;

/** Codings that are registered with IANA, and not undone here. */
const NOT_UNDONE: ReadonlySet<string> = new Set([
  'aes128gcm',
  'compress',
  'dcb',
  'dcz',
  'exi',
  'pack200-gzip',
  'x-compress',
  'zstd',
]);

/** RFC 9110 §8.4.1: "content-coding   = token". */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;

/**
 * The codings of a `Content-Encoding` field in the order in which they were applied; `[]` for none; `undefined` when
 * one of them is not undone. A label that no coding has (`UTF-8`, `aws-chunked`, `none`) says nothing: servers of files send
 * such labels with plain text.
 */
export function contentCodings(field: string | undefined): ContentCoding[] | undefined {
  const codings: ContentCoding[] = [];
  for (const item of field === undefined ? [] : field.split(',')) {
    const label = item.trim().toLowerCase();
    switch (label) {
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
        if (NOT_UNDONE.has(label) || !TOKEN.test(label)) return undefined;
    }
    if (codings.length > MAX_CODINGS) return undefined;
  }
  return codings;
}
