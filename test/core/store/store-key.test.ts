import { describe, expect, it } from 'vitest';
import { namespaceKey, readRecordKey, storeKey } from '../../../src/core/store/record-codec.ts';

const ORIGIN = 'http://[::1]:8080';
const namespace = namespaceKey({ token: 'ExampleBot', addressPolicy: 'public-only' });

describe('the key of a record', () => {
  it('has the namespace, with the token in lower case, and the origin, and can be read back', () => {
    const key = storeKey('record', namespace, ORIGIN);
    expect(key).toBe('v4:record:examplebot:public-only:http://[::1]:8080');
    expect(readRecordKey(key)).toEqual({
      token: 'examplebot',
      addressPolicy: 'public-only',
      origin: ORIGIN,
    });
  });

  it.each([
    storeKey('lease', namespace, ORIGIN),
    'slot:v1:http://[::1]:8080',
    'v1:record:examplebot:public-only:https://example.com',
    'v4:record:examplebot:public-only:',
    'v4:record:examplebot',
    ' v4:record:examplebot:public-only:https://example.com',
    '',
  ])('differs from every other key: %j', (key) => {
    expect(readRecordKey(key)).toBeUndefined();
  });
});
