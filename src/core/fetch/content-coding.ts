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
