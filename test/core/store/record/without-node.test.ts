import { crc32 as crc32OfNode } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bodyJson, bytesOf, crc32, crc32OfText } from '../../../../src/core/store/record-codec.ts';

describe('the parts of a record without Node', () => {
  it('is the checksum that Node computes, so that a snapshot can be read elsewhere', () => {
    expect(crc32).toBe(crc32OfNode);
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(0xffff_ffff), (text, before) => {
        expect(crc32OfText(text)).toBe(crc32OfNode(text));
        expect(crc32OfText(text, before)).toBe(crc32OfNode(text, before));
      }),
    );
  });

  it('is the base64 that Node writes', () => {
    fc.assert(
      // Bytes are converted 8,192 at a time.
      fc.property(fc.constantFrom(1, 8_190, 16_384), fc.uint8Array(), (before, bytes) => {
        const file = Buffer.concat([Buffer.alloc(before, 0xfe), bytes]);
        const base64 = file.toString('base64');
        expect(bodyJson(file)).toBe(JSON.stringify({ base64 }));
        expect(file.equals(bytesOf({ base64 }))).toBe(true);
      }),
    );
  });
});
