import { describe, expect, it } from 'vitest';
import { fenceOf, MAX_FENCE_BYTES, withFence, withoutFence } from '../../../src/store/value/fence.ts';

const VALUE = Buffer.from('tUser-agent: *');

describe('the fence of a stored value', () => {
  it.each(['7', '!~', 'x'.repeat(255)])('%j comes before the value, and can be taken off', (token) => {
    const stored = withFence(VALUE, token);
    expect(fenceOf(stored)).toBe(token);
    expect(withoutFence(stored)).toEqual(VALUE);
    expect(stored).toHaveLength(VALUE.length + 2 + token.length);
  });

  it('adds at most MAX_FENCE_BYTES', () => {
    expect(withFence(VALUE, 'x'.repeat(255))).toHaveLength(VALUE.length + MAX_FENCE_BYTES);
  });

  it('is absent without a lease', () => {
    expect(withFence(VALUE, undefined)).toBe(VALUE);
    expect(fenceOf(VALUE)).toBeUndefined();
    expect(withoutFence(VALUE)).toBe(VALUE);
  });

  it.each(['', 'x'.repeat(256), 'a b', 'a\n', 'ä', '\0'])('refuses the token %j', (token) => {
    expect(() => withFence(VALUE, token)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: 'Expected `fence` to be the token of a lease, 1 to 255 printable ASCII characters',
      }),
    );
  });

  it('of a value that was cut is read without an error', () => {
    expect(fenceOf(Buffer.from('f'))).toBe('');
    expect(withoutFence(Buffer.from('f'))).toHaveLength(0);
    expect(fenceOf(Buffer.from('f\x09abc'))).toBe('abc');
  });
});
