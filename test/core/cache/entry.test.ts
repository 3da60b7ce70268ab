import { describe, expect, it } from 'vitest';
import { CacheEntry } from '../../../src/core/cache/entry.ts';
import {
  type RobotsResponseHeaders,
  type OriginRecord,
  type Outcome,
  profiles,
} from '../../../src/core/lifecycle/index.ts';
import { DAY, outcomes, Story } from '../lifecycle/support.ts';

const { rfc9309, google } = profiles;
const TEXT = 'User-agent: *\nDisallow: /private\n';

function made(...met: Outcome[]): OriginRecord {
  const story = new Story();
  return met.map((outcome) => story.meets(outcome)).at(-1)!;
}

const sizeOf = (...met: Outcome[]): number => new CacheEntry(made(...met), rfc9309).countBytes();

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

describe('the memory that an entry takes', () => {
  const LONG = 'x'.repeat(1_000);
  const answering = (headers: RobotsResponseHeaders): Outcome => outcomes.success(headers, TEXT);

  it('grows by the bytes of the file, and by what is compiled from it', () => {
    const grown = sizeOf(outcomes.success({}, TEXT + '#'.repeat(1_000))) - sizeOf(outcomes.success({}, TEXT));
    expect(grown).toBe(1_000);
    const entry = new CacheEntry(made(outcomes.success({}, TEXT)), rfc9309);
    const before = entry.countBytes();
    expect(entry.hasChanged).toBe(false);
    entry.file?.check('/private', 'ExampleBot');
    expect(entry.hasChanged).toBe(true);
    expect(entry.countBytes()).toBeGreaterThan(before);
    expect(entry.hasChanged).toBe(false);
  });

  it('grows with each agent that has rules of its own, and only once for agents that no group names', () => {
    const text = 'User-agent: A\nDisallow: /a\n\nUser-agent: B\nDisallow: /b\n\nUser-agent: *\nAllow: /\n';
    const entry = new CacheEntry(made(outcomes.success({}, text)), rfc9309);
    const grown = (agent: string): number => {
      const before = entry.countBytes();
      for (let count = 0; count < 3; count++) entry.file?.check('/a', agent);
      return entry.countBytes() - before;
    };
    grown('First');
    for (const agent of ['A', 'B']) expect(grown(agent)).toBeGreaterThan(300);
    for (const agent of ['A', 'B', 'Second', 'Third']) expect(grown(agent)).toBe(0);
  });

  it('counts a body in UTF-16 beside its transcoding, and another body once', () => {
    const read = (body: Uint8Array): number => {
      const entry = new CacheEntry(made({ ...outcomes.success(), body } as Outcome), rfc9309);
      const before = entry.countBytes();
      expect(entry.file).toBeDefined();
      return entry.countBytes() - before;
    };
    const comment = `#${'x'.repeat(9_999)}`;
    const utf16 = read(Buffer.from(`\uFEFF${comment}`, 'utf16le'));
    const utf8 = read(Buffer.from(comment));
    expect(utf16 - utf8).toBe(10_000);
    expect(utf8).toBeLessThan(5_000);
  });

  it.each([
    ['the fields of the answer', answering({ expires: LONG })],
    [
      'its redirects',
      { ...answering({}), redirects: [{ url: 'https://a.example', status: 301, location: LONG }] },
    ],
  ])('counts %s, of which a server may use the whole bound', (_, outcome) => {
    const grown = sizeOf(outcome) - sizeOf(answering({}));
    expect(grown).toBeGreaterThanOrEqual(1_000);
    expect(grown).toBeLessThan(1_500);
  });

  it('counts a failure beside the answer', () => {
    expect(sizeOf(answering({}), outcomes.unreachable())).toBeGreaterThan(sizeOf(answering({})) + 100);
  });
});
