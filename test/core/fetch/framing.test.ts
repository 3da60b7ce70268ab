import { describe, expect, it } from 'vitest';
import { framingFault } from '../../../src/core/fetch/framing.ts';

const faultOf = (status: number, fields: Readonly<Record<string, string>> = {}): string | undefined =>
  framingFault({ status, headers: { get: (name) => fields[name] } });

describe('RFC 9112 §6.1: a transfer coding', () => {
  it.each(['chunked', 'Chunked', 'chunked ', 'chunked  '])('that the transport undoes: %j', (field) => {
    expect(faultOf(200, { 'transfer-encoding': field })).toBeUndefined();
  });

  it.each(['chunked\t', ' chunked', '', ' ', ',chunked', 'chunked,', 'chunked ,'])(
    'spelled so that a parser leaves the chunks in the body: %j',
    (field) => {
      expect(faultOf(200, { 'transfer-encoding': field })).toBe('ERR_ROBOTS_TRANSFER_CODING');
    },
  );

  it.each(['gzip', 'gzip, chunked', 'chunked, chunked', 'chunked;q=1', 'xchunked', 'chunkedx', 'identity'])(
    'that is left as it is: %j',
    (field) => {
      expect(faultOf(200, { 'transfer-encoding': field })).toBe('ERR_ROBOTS_TRANSFER_CODING');
      expect(faultOf(206, { 'transfer-encoding': field })).toBe('ERR_ROBOTS_TRANSFER_CODING');
    },
  );

  it('is not asked for', () => {
    expect(faultOf(200)).toBeUndefined();
  });
});

describe('RFC 9110 §14.4: a 206', () => {
  it.each([
    undefined,
    'bytes 0-26/27',
    'Bytes 0-26/27',
    ' bytes\t 0-26/27 ',
    'bytes 0-0/1',
    'bytes 0-999999999999998/999999999999999',
  ])('with the whole file: %j', (range) => {
    expect(faultOf(206, range === undefined ? {} : { 'content-range': range })).toBeUndefined();
  });

  it('without its range, where malformed fields vanish', () => {
    const headers = { get: (): undefined => undefined };
    expect(framingFault({ status: 206, headers, hidesFields: true })).toBe('ERR_ROBOTS_PARTIAL_CONTENT');
    expect(framingFault({ status: 200, headers, hidesFields: true })).toBeUndefined();
  });

  it.each([
    ...'bytes 0-26/28|bytes 0-27/27|bytes 1-26/27|bytes 0-26/*|bytes */27|bytes0-26/27'.split('|'),
    ...'lines 0-26/27|x bytes 0-26/27|bytes 0-26/27 x|bytes 0-/27|bytes 0-26/'.split('|'),
    ...'bytes 0-9999999999999998/9999999999999999|bytes 0-26/27, bytes 0-26/27'.split('|'),
    '',
  ])('with a part of it: %j', (range) => {
    expect(faultOf(206, { 'content-range': range })).toBe('ERR_ROBOTS_PARTIAL_CONTENT');
    // The field means nothing beside another status.
    expect(faultOf(200, { 'content-range': range })).toBeUndefined();
  });

  it.each([
    ['multipart/byteranges; boundary=x', true],
    [' Multipart/ByteRanges', true],
    ['multipart/byterangesx', false],
    ['multipart/mixed', false],
    ['text/plain; was="multipart/byteranges"', false],
  ])('with several ranges, by its type %j: %s', (type, several) => {
    expect(faultOf(206, { 'content-type': type })).toBe(several ? 'ERR_ROBOTS_PARTIAL_CONTENT' : undefined);
    expect(faultOf(200, { 'content-type': type })).toBeUndefined();
  });
});

describe('a content coding', () => {
  const decode = (source: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> => source;
  const codingFault = (
    value: string,
    more: Partial<Parameters<typeof framingFault>[0]> = {},
    length?: string,
  ): string | undefined => {
    const fields: Record<string, string | undefined> = {
      'content-encoding': value,
      'content-length': length,
    };
    return framingFault({ status: 200, headers: { get: (name) => fields[name] }, ...more });
  };
  const CODED = ['gzip', 'BR', 'deflate, gzip', 'gzip, identity', 'gzip,', 'zstd'];

  it.each(CODED)('that a transport undoes by itself is refused: %j', (value) => {
    expect(codingFault(value)).toBe('ERR_ROBOTS_CONTENT_CODING');
    expect(codingFault(value, { decode })).toBeUndefined();
  });

  it.each(CODED)('without an byte is an empty file: %j', (value) => {
    expect(codingFault(value, {}, '0')).toBeUndefined();
    expect(codingFault(value, { status: 204 })).toBeUndefined();
    expect(codingFault(value, {}, '20')).toBe('ERR_ROBOTS_CONTENT_CODING');
  });

  it.each(['', 'identity', 'identity,'])('that is none: %j', (value) => {
    expect(codingFault(value)).toBeUndefined();
    expect(codingFault(value, { hidesFields: true })).toBeUndefined();
  });

  it('that a browser undoes is taken, as it asks for it in any case', () => {
    const inPage = { hidesFields: true };
    for (const value of ['gzip', 'BR', 'deflate, gzip']) expect(codingFault(value, inPage)).toBeUndefined();
    for (const value of ['gzip, identity', 'gzip,', 'gzip, foo', 'zstd']) {
      expect(codingFault(value, inPage)).toBe('ERR_ROBOTS_CONTENT_CODING');
    }
  });
});
