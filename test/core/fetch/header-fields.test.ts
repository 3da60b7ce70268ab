import { describe, expect, it } from 'vitest';
import { keptHeaders, truncatedUrl } from '../../../src/core/fetch/header-fields.ts';

const read = (status: number, fields: Readonly<Record<string, string>>) =>
  keptHeaders({ status, headers: { get: (name) => fields[name] } });

describe('the header fields of an answer', () => {
  it.each([
    [299, false],
    [300, true],
    [399, true],
    [400, false],
  ])('of %i have the Location: %s', (status, hasLocation) => {
    expect(read(status, { location: '/r' })).toStrictEqual(hasLocation ? { location: '/r' } : {});
  });

  it('are left out above 1,024 characters', () => {
    expect(read(200, { etag: 'x'.repeat(1_024), expires: 'x'.repeat(1_025) })).toStrictEqual({
      etag: 'x'.repeat(1_024),
    });
  });

  it('have a Location that is cut after 1,024 characters', () => {
    expect(read(301, { location: 'x'.repeat(1_024) }).location).toBe('x'.repeat(1_024));
    expect(read(301, { location: 'x'.repeat(1_025) }).location).toBe(`${'x'.repeat(1_024)}…`);
    expect(truncatedUrl('/r')).toBe('/r');
  });
});
