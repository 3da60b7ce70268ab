import { TextDecoder } from 'node:util';
import { ToolError } from './tool.ts';

/** A part of the text of a page. Positions are bytes of the text in UTF-8. */
export interface TextPart {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Whether text follows. */
  readonly more: boolean;
}

/** The number of bytes that are examined for the encoding, as browsers do. */
const HEAD_BYTES = 1_024;

/**
 * Decodes a body. It stops to read as soon as there is more than `maxBytes` of text, in UTF-8.
 *
 * @throws ToolError when the content is not text, or what the body throws.
 */
export async function readText(
  body: AsyncIterable<Uint8Array> | readonly Uint8Array[],
  contentType: string | undefined,
  maxBytes: number,
): Promise<{ readonly text: string; readonly charset: string }> {
  const texts: string[] = [];
  let bytes = 0;
  let decoder: TextDecoder | undefined;
  let head = Buffer.alloc(0);
  const keep = (text: string): void => {
    texts.push(text);
    bytes += Buffer.byteLength(text);
  };
  for await (const chunk of body) {
    if (decoder === undefined) {
      head = Buffer.concat([head, chunk]);
      if (head.length < HEAD_BYTES) continue;
      decoder = decoderFor(head, contentType);
      keep(decoder.decode(head, { stream: true }));
    } else keep(decoder.decode(chunk, { stream: true }));
    if (bytes > maxBytes) break;
  }
  if (decoder === undefined) {
    decoder = decoderFor(head, contentType);
    keep(decoder.decode(head, { stream: true }));
  }
  if (bytes <= maxBytes) keep(decoder.decode());
  return { text: texts.join(''), charset: decoder.encoding };
}

/** At most `maxBytes` of a text from the byte `start` on, in whole characters. */
export function partOf(whole: string, start: number, maxBytes: number): TextPart {
  const bytes = Buffer.from(whole);
  let from = Math.min(start, bytes.length);
  while (isContinuation(bytes[from])) from++;
  const more = bytes.length - from > maxBytes;
  let to = more ? from + maxBytes : bytes.length;
  while (isContinuation(bytes[to])) to--;
  return { text: bytes.toString('utf8', from, to), start: from, end: to, more };
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

/** Types whose content is text. */
const TEXT_TYPE =
  /^(?:text\/.*|.*\+(?:json|xml|yaml)|application\/(?:ecmascript|graphql|javascript|json|json5|jsonl|ndjson|rtf|sql|toml|typescript|x-javascript|x-ndjson|x-sh|x-www-form-urlencoded|x-yaml|xml|xml-dtd|yaml))$/;

/**
 * Refuses content that is not text, such as images and archives. Without a type, the content itself decides.
 *
 * @throws ToolError
 */
export function assertText(contentType: string | undefined): void {
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || TEXT_TYPE.test(type)) return;
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
