import { describe, expect, it } from 'vitest';
import { readStoredRecord } from '../../../../src/core/store/record-codec.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../../../src/core/base/index.ts';

const URL = 'https://example.com/robots.txt';
const LATEST = 8.64e15;
const route = { finalUrl: URL, hops: 0 };
const answer = { ...route, kind: 'rules', status: 200, fetchedAt: 0, staleAt: 1 };
const copy = { ...route, body: 'Allow: /', truncated: false, status: 200, fetchedAt: 0 };
const failure = { ...route, since: 0, at: 0, attempts: 1, retryAt: 1, error: 'ENOTFOUND' };
const redirect = { url: URL, status: 301, location: '/r' };

type Members = Readonly<Record<string, unknown>>;

const entry = (record: Members, more: Members = {}): unknown => ({
  record: { origin: 'https://example.com', ...record },
  maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
  keepCopyOnUnavailableMs: 0,
  ...more,
});
const withAnswer = (members: Members): unknown => entry({ answer: { ...answer, ...members } });
const withCopy = (members: Members): unknown => entry({ copy: { ...copy, ...members } });
const withFailure = (members: Members): unknown => entry({ failure: { ...failure, ...members } });
const url = (length: number): string => URL.padEnd(length, 'x');
const text = (length: number): string => 'x'.repeat(length);

describe('the limits of a stored record', () => {
  it.each<[what: string, within: unknown, beyond: unknown]>([
    ['the latest time', withAnswer({ staleAt: LATEST }), withAnswer({ staleAt: LATEST + 1 })],
    ['the least status', withAnswer({ status: 100 }), withAnswer({ status: 99 })],
    ['the greatest status', withAnswer({ status: 999 }), withAnswer({ status: 1_000 })],
    ['the longest URL', withAnswer({ finalUrl: url(65_536) }), withAnswer({ finalUrl: url(65_537) })],
    ['the scheme of a URL', withAnswer({ finalUrl: 'ftp://a/' }), withAnswer({ finalUrl: 'file:///a' })],
    ['the greatest number of hops', withAnswer({ hops: 100 }), withAnswer({ hops: 101 })],
    [
      'the longest field',
      withAnswer({ headers: { etag: text(1_024) } }),
      withAnswer({ headers: { etag: text(1_025) } }),
    ],
    [
      'the characters of a field',
      withAnswer({ headers: { etag: '\t ~\u0080ÿ' } }),
      withAnswer({ headers: { etag: '"1"\r\nx: y' } }),
    ],
    [
      'the longest Location',
      withAnswer({ headers: { location: text(1_025) } }),
      withAnswer({ headers: { location: text(1_026) } }),
    ],
    ['the fields', withAnswer({ headers: { age: '1' } }), withAnswer({ headers: { cookie: '1' } })],
    [
      'the number of redirects',
      withAnswer({ redirects: Array.from({ length: 100 }, () => redirect) }),
      withAnswer({ redirects: Array.from({ length: 101 }, () => redirect) }),
    ],
    ['a 304', withAnswer({ notModified: true }), withAnswer({ notModified: false })],
    [
      'the start of a 404',
      withAnswer({ kind: 'unavailable', since: 0 }),
      withAnswer({ kind: 'unavailable' }),
    ],
    ['a body of base64', withCopy({ body: { base64: 'QQ==' } }), withCopy({ body: { base64: 'Q' } })],
    ['a validator of the copy', withCopy({ etag: '"1"' }), withCopy({ etag: '"1"\n' })],
    ['the number of attempts', withFailure({ attempts: 1 }), withFailure({ attempts: 0 })],
    ['the longest code', withFailure({ error: 'E'.repeat(64) }), withFailure({ error: 'E'.repeat(65) })],
    ['the characters of a code', withFailure({ error: 'E_2' }), withFailure({ error: 'ENOTFOUND\n' })],
    ['the longest origin', entry({ origin: url(65_536) }), entry({ origin: url(65_537) })],
    ['the members of a record', entry({}), entry({ rules: [] })],
    ['the body limit', entry({}, { maxBodyBytes: 0 }), entry({}, { maxBodyBytes: -1 })],
    ['the members of an entry', entry({}), entry({}, { version: 2 })],
  ])('%s', (_, within, beyond) => {
    expect(readStoredRecord(within)).toBeDefined();
    expect(readStoredRecord(beyond)).toBeUndefined();
  });

  it('apply to a body of UTF-8 text or base64, which is read as bytes', () => {
    const body = (stored: unknown): unknown =>
      readStoredRecord(withCopy({ body: stored }))?.record.copy?.body;
    expect(body('ä')).toEqual(Uint8Array.of(0xc3, 0xa4));
    expect(body({ base64: '/wA=' })).toEqual(Uint8Array.of(0xff, 0));
  });
});
