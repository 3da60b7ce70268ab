import { describe, expect, it } from 'vitest';
import { CacheEntry } from '../../../src/core/cache/entry.ts';
import {
  type RobotsResponseHeaders,
  type OriginRecord,
  type Outcome,
  profiles,
} from '../../../src/core/lifecycle/index.ts';
import { DAY, HOUR, outcomes, START, Story } from '../lifecycle/support.ts';

const { rfc9309, google } = profiles;
const TEXT = 'User-agent: *\nDisallow: /private\n';

function made(...met: Outcome[]): OriginRecord {
  const story = new Story();
  return met.map((outcome) => story.meets(outcome)).at(-1)!;
}

const sizeOf = (...met: Outcome[]): number => new CacheEntry(made(...met), rfc9309).sizeBytes;

describe('the rules of an entry', () => {
  it('are read once, when they are asked for, and by the dialect of the profile', () => {
    const entry = new CacheEntry(made(outcomes.success({}, TEXT)), google);
    const { file } = entry;
    expect(file?.dialect).toBe('google');
    expect(entry.file).toBe(file);
    expect(new CacheEntry(made(outcomes.unavailable()), rfc9309).file).toBeUndefined();
  });

  it('are taken over from the entry before, as long as its bytes and its profile are the same', () => {
    const story = new Story();
    const first = new CacheEntry(story.meets(outcomes.success({ etag: '"1"' }, TEXT)), rfc9309);
    const { file } = first;
    const confirmed = story.later(DAY).meets(outcomes.notModified());
    expect(new CacheEntry(confirmed, rfc9309, first).file).toBe(file);
    expect(new CacheEntry(confirmed, google, first).file).not.toBe(file);
    expect(new CacheEntry(confirmed, { ...rfc9309 }, first).file).not.toBe(file);
    expect(new CacheEntry(story.meets(outcomes.success({}, TEXT)), rfc9309, first).file).not.toBe(file);
    expect(new CacheEntry(confirmed, rfc9309).file).not.toBe(file);
  });
});

describe('an entry is quiet', () => {
  it('from receipt of its answer until the last tenth of the lifetime', () => {
    const entry = new CacheEntry(made(outcomes.success()), rfc9309);
    const quiet = [-1, 0, 0.9 * DAY - 1, 0.9 * DAY].map((ms) => entry.isFreshAndNotDue(START + ms));
    expect(quiet).toEqual([false, true, true, false]);
  });

  it.each([
    ['nothing was fetched', { origin: 'https://example.com' }],
    ['there is no file', made(outcomes.unavailable())],
    ['its file is missing', { ...made(outcomes.success()), copy: undefined } as unknown as OriginRecord],
    ['a refresh failed', made(outcomes.success(), outcomes.unreachable())],
  ])('never when %s', (_, record) => {
    const entry = new CacheEntry(record, rfc9309);
    for (const at of [-1, 0, START, START + HOUR]) expect(entry.isFreshAndNotDue(at)).toBe(false);
  });
});

describe('the source of decisions', () => {
  it('is one object while the record is the same, and names memory, store or network', () => {
    const entry = new CacheEntry(made(outcomes.success(), outcomes.unreachable()), rfc9309);
    const first = entry.source('memory', true, true);
    expect(first).toMatchObject({ source: 'memory', status: 200 });
    expect(entry.source('memory', true, true)).toBe(first);
    const network = entry.source('network', true, true);
    expect(network).toMatchObject({ source: 'network' });
    expect(entry.source('network', true, true)).not.toBe(network);
    expect(entry.source('memory', true, true)).toBe(first);
  });

  it('changes with the state', () => {
    const success = { ...outcomes.success(), truncated: true } as Outcome;
    const entry = new CacheEntry(made(success, outcomes.unreachable()), rfc9309);
    expect(entry.source('memory', true, true)).toMatchObject({ status: 200, truncated: true });
    expect(entry.source('memory', true, false)).not.toHaveProperty('truncated');
    expect(entry.source('memory', false, false)).toMatchObject({ status: 503, error: 'ERR_ROBOTS_STATUS' });
    expect(entry.source('memory', true, false)).toMatchObject({ status: 200 });
    expect(entry.source('memory', true, true)).toHaveProperty('truncated');
  });
});

describe('the memory that an entry takes', () => {
  const LONG = 'x'.repeat(1_000);
  const answering = (headers: RobotsResponseHeaders): Outcome => outcomes.success(headers, TEXT);

  it('grows by the bytes of the file, and by what is compiled from it', () => {
    const grown = sizeOf(outcomes.success({}, TEXT + '#'.repeat(1_000))) - sizeOf(outcomes.success({}, TEXT));
    expect(grown).toBe(1_000);
    const entry = new CacheEntry(made(outcomes.success({}, TEXT)), rfc9309);
    const before = entry.updateSize();
    expect(entry.countedBytes).toBe(before);
    entry.file?.check('/private', 'ExampleBot');
    expect(entry.sizeBytes).toBeGreaterThan(before);
    expect(entry.countedBytes).toBe(before);
    expect([entry.updateSize(), entry.countedBytes]).toEqual([entry.sizeBytes, entry.sizeBytes]);
  });

  it('counts a body in UTF-16 beside its transcoding, and another body once', () => {
    const read = (body: Uint8Array): number => {
      const entry = new CacheEntry(made({ ...outcomes.success(), body } as Outcome), rfc9309);
      const before = entry.sizeBytes;
      expect(entry.file).toBeDefined();
      return entry.sizeBytes - before;
    };
    const comment = `#${'x'.repeat(9_999)}`;
    const utf16 = read(Buffer.from(`\uFEFF${comment}`, 'utf16le'));
    const utf8 = read(Buffer.from(comment));
    expect(utf16 - utf8).toBe(10_000);
    expect(utf8).toBeLessThan(5_000);
  });

  it('counts the fields of the answer, and those of the copy only where they differ', () => {
    const plain = sizeOf(answering({ age: '' }));
    expect(sizeOf(answering({ age: LONG })) - plain).toBe(1_000);
    expect(sizeOf(answering({ age: '', expires: LONG })) - plain).toBe(1_030);
    expect(sizeOf(answering({}))).toBeLessThan(plain);
    // One string, in the answer and in the copy.
    for (const name of ['etag', 'lastModified', 'contentType'] as const) {
      expect(sizeOf(answering({ age: '', [name]: LONG })) - plain).toBe(1_030);
      const record = made(answering({ age: '', [name]: LONG }));
      const copy = { ...record.copy!, [name]: `${LONG}y` };
      expect(new CacheEntry({ ...record, copy }, rfc9309).sizeBytes - plain).toBe(1_030 + 1_021);
    }
  });

  it('counts a failure, and its redirects', () => {
    const success = sizeOf(answering({}));
    const failed = sizeOf(answering({}), outcomes.unreachable()) - success;
    expect(failed).toBe(125 + 20 + 'https://example.com/robots.txt'.length);
    const redirect = { url: 'https://example.com/robots.txt', status: 301, location: LONG };
    expect(sizeOf({ ...answering({}), redirects: [redirect] }) - success).toBe(
      60 + redirect.url.length + 1_000,
    );
    expect(sizeOf({ ...answering({}), redirects: [redirect, redirect] }) - success).toBe(
      2 * (60 + redirect.url.length + 1_000),
    );
  });

  it('of an unknown origin is that of its name', () => {
    const entry = new CacheEntry({ origin: 'https://example.com' }, rfc9309);
    expect(entry.sizeBytes).toBe(300 + 'https://example.com'.length);
  });
});
