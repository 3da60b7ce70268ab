import { TextDecoder } from 'node:util';
import { ToolError } from './tool.ts';

/** A part of the text of a page. Positions are bytes of the text in UTF-8. */
export interface TextPart {
  readonly text: string;
  /** The label of the character encoding that the bytes were decoded with. */
  readonly charset: string;
  readonly start: number;
  readonly end: number;
  /** Whether text follows. */
  readonly more: boolean;
}

/** A part that was read from a body. */
interface ReadPart extends TextPart {
  /** How the page begins, wherever the part does: its meta tags stand there. */
  readonly head: string;
}

interface PartOptions {
  readonly contentType: string | undefined;
  /** The first byte that is wanted. */
  readonly start: number;
  readonly maxBytes: number;
}

/** Pages with much style and script before their meta tags exist. */
const MAX_HEAD_CHARACTERS = 100_000;

/** The number of bytes that are examined for the encoding, as browsers do. */
const HEAD_BYTES = 1_024;

/**
 * Decodes a body, and returns `maxBytes` of its text from `start` on, in whole characters. It stops to read as soon as
 * these are complete. What precedes them is decoded and dropped, so the memory does not depend on `start`.
 *
 * @throws ToolError when the content is not text, or what the body throws.
 */
export async function readText(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  { contentType, start, maxBytes }: PartOptions,
): Promise<ReadPart> {
  const kept: Buffer[] = [];
  let keptBytes = 0;
  let bytes = 0;
  let decoder: TextDecoder | undefined;
  let firstBytes = Buffer.alloc(0);
  let head = '';
  const keep = (text: string): void => {
    if (head.length < MAX_HEAD_CHARACTERS) head += text;
    const encoded = Buffer.from(text);
    const wanted = encoded.subarray(Math.max(0, start - bytes));
    bytes += encoded.length;
    if (wanted.length === 0) return;
    kept.push(wanted);
    keptBytes += wanted.length;
  };
  for await (const chunk of body) {
    if (decoder === undefined) {
      firstBytes = Buffer.concat([firstBytes, chunk]);
      if (firstBytes.length < HEAD_BYTES) continue;
      decoder = decoderFor(firstBytes, contentType);
      keep(decoder.decode(firstBytes, { stream: true }));
    } else {
      keep(decoder.decode(chunk, { stream: true }));
    }
    // One more byte shows that the page is longer.
    if (keptBytes > maxBytes) break;
  }
  if (keptBytes <= maxBytes) {
    keep(
      decoder === undefined
        ? (decoder = decoderFor(firstBytes, contentType)).decode(firstBytes)
        : decoder.decode(),
    );
  }
  const part = cut(Buffer.concat(kept), Math.min(start, bytes), maxBytes);
  return { ...part, head, charset: decoder?.encoding ?? 'utf-8' };
}

/** The part of a whole text from the byte `start` on. */
export function partOf(whole: string, start: number, maxBytes: number): Omit<TextPart, 'charset'> {
  const bytes = Buffer.from(whole);
  const begin = Math.min(start, bytes.length);
  return cut(bytes.subarray(begin), begin, maxBytes);
}

/** Cuts a text, which begins at the byte `begin` of the page, to whole characters. */
function cut(text: Buffer, begin: number, maxBytes: number): Omit<TextPart, 'charset'> {
  let from = 0;
  while (isContinuation(text[from])) from++;
  const more = text.length - from > maxBytes;
  let to = more ? from + maxBytes : text.length;
  while (isContinuation(text[to])) to--;
  return { text: text.toString('utf8', from, to), start: begin + from, end: begin + to, more };
}

/** Whether a byte of UTF-8 continues a character: `10xxxxxx`. */
function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/**
 * The decoder of a body: by its byte order mark, else by the `charset` of `Content-Type`, else by what an HTML or XML
 * document declares. Without any of them it is UTF-8, or windows-1252 where the bytes are not UTF-8.
 *
 * @throws ToolError when the bytes are not text.
 */
function decoderFor(head: Buffer, contentType: string | undefined): TextDecoder {
  const marked = byOrderMark(head);
  if (marked !== undefined) return new TextDecoder(marked);
  const start = head.subarray(0, HEAD_BYTES);
  const isWhole = start.length < HEAD_BYTES;
  const declared =
    supported(/;\s*charset\s*=\s*["']?([^\s;"']+)/i.exec(contentType ?? '')?.[1]) ??
    supported(declaredIn(start));
  if (declared?.encoding.startsWith('utf-16') !== true && start.includes(0)) throw notText('binary content');
  return declared ?? new TextDecoder(isUtf8(start, isWhole) ? 'utf-8' : 'windows-1252');
}

function byOrderMark(head: Buffer): string | undefined {
  const [first, second, third] = head;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined;
}

/** The encoding that a document declares. HTML: a document whose declaration can be read as ASCII is not in UTF-16. */
function declaredIn(head: Buffer): string | undefined {
  const text = head.toString('latin1');
  const label =
    /^\s*<\?xml[^>]{0,200}?\sencoding\s*=\s*["']([\w.:-]+)/.exec(text)?.[1] ??
    /<meta\s[^>]{0,300}?charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(text)?.[1];
  return label !== undefined && /^utf-?16/i.test(label) ? 'utf-8' : label;
}

function supported(label: string | undefined): TextDecoder | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

function isUtf8(bytes: Buffer, isWhole: boolean): boolean {
  try {
    // With `stream` an incomplete character at the end is no error.
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: !isWhole });
    return true;
  } catch {
    return false;
  }
}

/** Types outside `text/` whose content is text. */
const TEXT_TYPES = new Set(
  (
    'ecmascript graphql javascript json json5 jsonl ndjson rtf sql toml typescript x-javascript x-ndjson x-sh ' +
    'x-www-form-urlencoded x-yaml xml xml-dtd yaml'
  )
    .split(' ')
    .map((name) => `application/${name}`),
);

/**
 * Refuses content that is not text, such as images and archives. Without a type, the content itself decides.
 *
 * @throws ToolError
 */
export function assertText(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || type.startsWith('text/') || TEXT_TYPES.has(type) || /\+(?:json|xml|yaml)$/.test(type))
    return;
  throw notText(mediaType(contentType) ?? type);
}

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,40}\/[\w!#$&^.+-]{1,80}$/;
/**
 * The media type of a `Content-Type`; `undefined` without the field. The site writes the field, and our words stand around it:
 * nothing else of it is repeated.
 */
export function mediaType(contentType: string | undefined): string | undefined {
  if (contentType === undefined || contentType.trim() === '') return undefined;
  const type = MEDIA_TYPE.exec(contentType.split(';', 1)[0]?.trim() ?? '')?.[0];
  return type?.toLowerCase() ?? 'an unknown type';
}

/** The error for content that is not text. */
export function notText(what: string): ToolError {
  return new ToolError(
    'ERR_ROBOTS_CONTENT_TYPE',
    `Expected a page of text (HTML, plain text, JSON, XML), got ${what}; this tool does not return binary content`,
  );
}
