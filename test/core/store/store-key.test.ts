import { describe, expect, it } from 'vitest';
import { namespaceKey, readRecordKey, slotKey, storeKey } from '../../../src/core/store/record-codec.ts';

const ORIGIN = 'http://[::1]:8080';
const namespace = namespaceKey({ token: 'ExampleBot', addressPolicy: 'public-only' });

describe('the key of a record', () => {
  it('has the namespace, with the token in lower case, and the origin', () => {
    expect(storeKey('record', namespace, ORIGIN)).toBe('v4:record:examplebot:public-only:http://[::1]:8080');
  });

  it('can be read back', () => {
    expect(readRecordKey(storeKey('record', namespace, ORIGIN))).toEqual({
      token: 'examplebot',
      addressPolicy: 'public-only',
      origin: ORIGIN,
    });
  });

  it.each([
    storeKey('lease', namespace, ORIGIN),
    slotKey(ORIGIN),
    'v1:record:examplebot:public-only:https://example.com',
    'v4:record:examplebot:public-only:',
    'v4:record:examplebot',
    ' v4:record:examplebot:public-only:https://example.com',
    '',
  ])('differs from every other key: %j', (key) => {
    expect(readRecordKey(key)).toBeUndefined();
  });
});

it('the key of slots is the same for every namespace', () => {
  expect(slotKey(ORIGIN)).toBe('slot:v1:http://[::1]:8080');
});
