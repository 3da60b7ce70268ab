import { crc32 } from 'node:zlib';
import type { CodedOctets } from './coded-octets.ts';

/** RFC 1952 §2.3.1. */
const MAGIC = [0x1f, 0x8b, 8];
const HEADER_CHECKSUM = 0x02;
const EXTRA = 0x04;
const NAME = 0x08;
const COMMENT = 0x10;
const RESERVED = 0xe0;

/**
 * Decodes one gzip member (RFC 1952) and leaves the octets after it unread. zlib's own decoder does not report where
 * the first member ends: it decodes a second one, and drops everything behind a zero.
 */
export async function* decodeMember(
  octets: CodedOctets,
  inflate: (octets: CodedOctets) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  await skipHeader(octets);
  let checksum = 0;
  let length = 0;
  for await (const chunk of inflate(octets)) {
    checksum = crc32(chunk, checksum);
    length += chunk.byteLength;
    yield chunk;
  }
  const trailer = new DataView((await octets.take(8)).buffer);
  if (trailer.getUint32(0, true) !== checksum || trailer.getUint32(4, true) !== length % 2 ** 32) {
    throw new RangeError('Expected the checksum and length of the decoded octets, got others');
  }
}

async function skipHeader(octets: CodedOctets): Promise<void> {
  const fixed = await octets.take(10);
  const flags = fixed[3] ?? 0;
  if (MAGIC.some((octet, at) => fixed[at] !== octet) || (flags & RESERVED) !== 0) {
    throw new RangeError('Expected a gzip header, got something else');
  }
  if ((flags & EXTRA) !== 0) {
    const [low = 0, high = 0] = await octets.take(2);
    await octets.take(low + 256 * high);
  }
  if ((flags & NAME) !== 0) await skipText(octets);
  if ((flags & COMMENT) !== 0) await skipText(octets);
  if ((flags & HEADER_CHECKSUM) !== 0) await octets.take(2);
}

/** Skips a text up to its terminating zero. */
async function skipText(octets: CodedOctets): Promise<void> {
  for (;;) {
    const chunk = await octets.next();
    if (chunk === undefined)
      throw new RangeError('Expected the rest of a gzip header, got the end of the body');
    const zero = chunk.indexOf(0);
    if (zero < 0) continue;
    octets.unread(chunk.subarray(zero + 1));
    return;
  }
}
