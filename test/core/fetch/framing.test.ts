import { describe, expect, it } from 'vitest';
import { framingFault } from '../../../src/core/fetch/framing.ts';

const faultOf = (status: number, fields: Readonly<Record<string, string>> = {}): string | undefined =>
  framingFault({ status, headers: { get: (name) => fields[name] } });

describe('RFC 9110 §14.4: a 206', () => {
  it.each([undefined, ' Bytes\t 0-26/27 ', 'bytes 0-999999999999998/999999999999999'])(
    'with the whole file: %j',
    (range) => {
      expect(faultOf(206, range === undefined ? {} : { 'content-range': range })).toBeUndefined();
    },
  );

  it('without its range, where malformed fields vanish', () => {
    const headers = { get: (): undefined => undefined };
    expect(framingFault({ status: 206, headers, hidesFields: true })).toBe('ERR_ROBOTS_PARTIAL_CONTENT');
    expect(framingFault({ status: 200, headers, hidesFields: true })).toBeUndefined();
  });

  it.each([
    ...'bytes 0-27/27|bytes 1-26/27|bytes 0-26/*|bytes0-26/27|x bytes 0-26/27|bytes 0-26/27 x'.split('|'),
    ...'bytes 0-9999999999999998/9999999999999999|'.split('|'),
  ])('with a part of it: %j', (range) => {
    expect(faultOf(206, { 'content-range': range })).toBe('ERR_ROBOTS_PARTIAL_CONTENT');
    // The field means nothing beside another status.
    expect(faultOf(200, { 'content-range': range })).toBeUndefined();
  });

  it.each([
    ['multipart/byteranges; boundary=x', true],
    [' Multipart/ByteRanges', true],
    ['text/plain; was="multipart/byteranges"', false],
  ])('with several ranges, by its type %j: %s', (type, several) => {
    expect(faultOf(206, { 'content-type': type })).toBe(several ? 'ERR_ROBOTS_PARTIAL_CONTENT' : undefined);
    expect(faultOf(200, { 'content-type': type })).toBeUndefined();
  });
});
