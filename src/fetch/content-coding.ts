import { pipeline, type Duplex } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from 'node:zlib';

export type ContentCoding = 'gzip' | 'deflate' | 'br';

/** Each coding is one more way to amplify; nobody honest stacks more than two. */
const MAX_CODINGS = 4;

/**
 * The codings of a `Content-Encoding` field in the order they were applied, `[]` for none; undefined when one of
 * them is unknown.
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

/**
 * Undoes `codings`, the last applied first. No stage takes in more than `maxOctetsIn`: what decodes to nothing
 * can go on for ever and still never reach a limit on the result.
 */
export function decode(
  source: AsyncIterable<Uint8Array>,
  codings: readonly ContentCoding[],
  maxOctetsIn: number,
): AsyncIterable<Uint8Array> {
  return codings.reduceRight((octets, coding) => undo(octets, coding, maxOctetsIn), source);
}

async function* undo(
  source: AsyncIterable<Uint8Array>,
  coding: ContentCoding,
  maxOctetsIn: number,
): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const head = await firstChunk(chunks);
  // Servers put the field on empty bodies too; nothing decodes to nothing.
  if (head === undefined) return;
  const decoder = decoderOf(coding, head);
  pipeline(bounded(head, chunks, maxOctetsIn), decoder, ignore);
  yield* decoder;
}

async function firstChunk(chunks: AsyncIterator<Uint8Array>): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await chunks.next();
    if (done === true) return undefined;
    if (value.byteLength > 0) return value;
  }
}

async function* bounded(
  head: Uint8Array,
  chunks: AsyncIterator<Uint8Array>,
  maxOctetsIn: number,
): AsyncGenerator<Uint8Array> {
  let octetsIn = 0;
  let chunk: Uint8Array = head;
  try {
    for (;;) {
      octetsIn += chunk.byteLength;
      if (octetsIn > maxOctetsIn) throw new RangeError('Too many octets that decode to too few');
      yield chunk;
      const next = await chunks.next();
      if (next.done === true) return;
      chunk = next.value;
    }
  } finally {
    await chunks.return?.();
  }
}

function decoderOf(coding: ContentCoding, head: Uint8Array): Duplex {
  if (coding === 'gzip') return createGunzip();
  if (coding === 'br') return createBrotliDecompress();
  // "deflate" means the zlib format, but many servers send raw deflate. Method 8 in the low half of the first
  // octet is the zlib header; raw deflate would start so only with a stored block with padding bits set.
  return ((head[0] ?? 0) & 0x0f) === 8 ? createInflate() : createInflateRaw();
}

function ignore(): void {}
