import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  meaningOfStatus,
  type OriginRecord,
  type Profile,
  profiles,
  standing,
} from '../../../src/lifecycle/index.ts';
import { RecordCodec } from '../../../src/store/index.ts';
import fc from '../../support/fast-check.ts';
import { DAY, HOUR, outcomes, SECOND, START, Story } from '../../lifecycle/support.ts';

const ORIGIN = 'https://example.com';
const LIMIT = 512_000;

function codecFor(profile: Profile = profiles.rfc9309, maxBodyBytes = LIMIT): RecordCodec {
  return new RecordCodec({ maxBodyBytes, profileOf: () => profile });
}

const codec = codecFor();
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function withBody(body: Uint8Array, truncated = false): OriginRecord {
  return new Story().meets({ ...outcomes.success(), kind: 'success', body, truncated } as never);
}

/** Writes anything with a right checksum, as no accident would. */
function forge(stored: object): string {
  const rest = JSON.stringify(stored).slice(1);
  return `{"v":1,"sum":${crc32(rest)},${rest}`;
}

/** A record as it is stored, to be changed. */
function stored(record: OriginRecord): Record<string, Record<string, unknown>> {
  return JSON.parse(codec.encode(record).replace(/^\{"v":1,"sum":\d+,/, '{'));
}

describe('a record', () => {
  const story = new Story();
  const headers = { etag: '"é"', lastModified: 'Thu, 15 Jan 2026 11:00:00 GMT', contentType: 'text/plain' };
  const success = story.meets(outcomes.success(headers));
  const failed = story.later(DAY).meets(outcomes.unreachable());
  const site = { reachable: false, at: START };

  it.each([
    ['rules', success],
    ['a failure beside them', failed],
    ['a failure alone', new Story().meets(outcomes.unreachable(HOUR))],
    ['a failure without an answer', { ...failed, failure: { ...failed.failure!, error: 'ENOTFOUND' } }],
    ['404', new Story().meets(outcomes.unavailable())],
    [
      '404 again, an hour later',
      ((each) => (each.meets(outcomes.unavailable()), each.later(HOUR).meets(outcomes.unavailable())))(
        new Story(),
      ),
    ],
    [
      'a redirect loop',
      new Story().meets({
        ...outcomes.unavailable({}, 302),
        reason: 'redirect-loop',
        hops: 2,
        finalUrl: 'https://www.example.com/a',
      } as never),
    ],
    [
      'a file from elsewhere',
      new Story().meets({
        ...outcomes.success(),
        status: 203,
        hops: 1,
        finalUrl: 'https://www.example.com/r?x',
      } as never),
    ],
    [
      'the course of an attempt',
      new Story().meets({
        kind: 'success',
        status: 200,
        body: bytes('User-agent: *'),
        truncated: false,
        finalUrl: 'https://www.example.com/r',
        hops: 1,
        headers: { cacheControl: 'max-age=60', age: '1', expires: '0', date: 'x' },
        suspect: 'html',
        redirects: [{ url: `${ORIGIN}/robots.txt`, status: 301, location: `${'l'.repeat(1_024)}…` }],
      }),
    ],
    [
      'a 304',
      ((each) => (each.meets(outcomes.success()), each.later(DAY).meets(outcomes.notModified({ age: '9' }))))(
        new Story(),
      ),
    ],
    [
      'the course of a failure',
      new Story().meets({
        kind: 'unreachable',
        status: 302,
        error: 'ERR_ROBOTS_REDIRECT_SCHEME',
        finalUrl: `${ORIGIN}/robots.txt`,
        hops: 0,
        retryAfterMs: 90_000,
        headers: { retryAfter: '90', location: 'gopher://x' },
        suspect: 'challenge',
      }),
    ],
    ['a challenge', new Story().meets({ ...outcomes.unavailable({}, 403), suspect: 'challenge' })],
    ['an empty file', withBody(new Uint8Array())],
    ['a page in its place', new Story().meets({ ...outcomes.success(), suspect: 'html' } as never)],
    ['a challenge', new Story().meets({ ...outcomes.unavailable({}, 403), suspect: 'challenge' } as never)],
    ['a failure with a challenge', { ...failed, failure: { ...failed.failure!, suspect: 'challenge' } }],
    ['a site signal', { origin: ORIGIN, site }],
    ['a site signal beside rules', { ...success, site }],
  ] as [string, OriginRecord][])('comes back as it was: %s', (_, record) => {
    expect(codec.decode(codec.encode(record), START + 2 * DAY, ORIGIN)).toEqual({ record });
  });

  it('comes back under a profile that restricts', () => {
    const profile = profiles['koster-1996'];
    const record = new Story(profile).meets(outcomes.restricted());
    const restricting = codecFor(profile);
    expect(restricting.decode(restricting.encode(record), START)).toEqual({ record });
  });

  it('keeps every octet, whatever they are', () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: 'binary', maxLength: 200 }).map(bytes),
      fc.string({ unit: 'grapheme', maxLength: 100 }).map((text) => bytes(`\uFEFF${text}\r\n\0`)),
    );
    fc.assert(
      fc.property(body, (octets) => {
        const { record } = codec.decode(codec.encode(withBody(octets)), START, ORIGIN);
        expect(record?.copy?.body).toEqual(octets);
      }),
    );
  });

  it('of the largest file fits, however it is written', () => {
    for (const octet of [0x00, 0x22, 0x41, 0xff]) {
      const body = new Uint8Array(LIMIT).fill(octet);
      expect(codec.decode(codec.encode(withBody(body, true)), START).record?.copy?.body.length).toBe(LIMIT);
    }
  });

  it('does not keep more than the file in memory', () => {
    const text = codec.encode(withBody(new Uint8Array([0xff, 0xfe, 0x00])));
    expect(codec.decode(text, START).record?.copy?.body.buffer.byteLength).toBe(3);
  });

  it('of an ordinary site is hardly larger than its file', () => {
    const body = 'User-agent: *\nDisallow: /admin/\nSitemap: https://example.com/sitemap.xml\n';
    const text = codec.encode(withBody(bytes(body)));
    expect(text.length - JSON.stringify(body).length).toBeLessThan(180);
    expect(codec.encode(new Story().meets(outcomes.unavailable())).length).toBeLessThan(160);
  });
});

describe('an entry is rejected', () => {
  const text = codec.encode(new Story().meets(outcomes.success()));
  const rejection = (entry: unknown, now = START, origin: string | undefined = ORIGIN): unknown =>
    codec.decode(entry, now, origin).rejected;

  it('when it is no record', () => {
    for (const entry of [
      '',
      'null',
      '{}',
      '[]',
      'OK',
      '{"v":1}',
      text.slice(0, -1),
      `${text} `,
      5,
      null,
      {},
      Buffer.from(text),
    ]) {
      expect(rejection(entry)).toBe('damaged');
    }
  });

  it('when one character of it is another', () => {
    const place = fc.integer({ min: 0, max: text.length - 1 });
    fc.assert(
      fc.property(place, fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), (at, character) => {
        fc.pre(text[at] !== character && !/^.\{"v":\d,/.test(character));
        expect(['damaged', 'version']).toContain(
          rejection(text.slice(0, at) + character + text.slice(at + 1)),
        );
      }),
      { numRuns: 1_000 },
    );
  });

  it('when it was read in another character set than it was written in', () => {
    const written = codec.encode(withBody(bytes('User-agent: *\nDisallow: /ä\n')));
    expect(rejection(Buffer.from(written, 'utf8').toString('latin1'))).toBe('damaged');
    expect(rejection(written)).toBeUndefined();
  });

  it('when another version wrote it', () => {
    for (const entry of [
      '{"v":2,"sum":1,"x":1}',
      '{"v":0}',
      '{"v":2,"record":{}}',
      text.replace('"v":1', '"v":9'),
    ]) {
      expect(rejection(entry)).toBe('version');
    }
  });

  it('when it is about another origin', () => {
    expect(rejection(text, START, 'https://example.com:8443')).toBe('origin');
    expect(rejection(text, START, 'http://example.com')).toBe('origin');
  });

  it('when nobody asked about one and it names none', () => {
    for (const origin of [
      'https://example.com/',
      'HTTPS://example.com',
      'ws://example.com',
      'nonsense',
      '',
    ]) {
      expect(codec.decode(forge({ ...stored(withBody(bytes(''))), origin }), START).rejected).toBe('origin');
    }
    expect(codec.decode(text, START).record?.origin).toBe(ORIGIN);
  });

  it('when it is from the future, lives too long, or was made by a laxer profile', () => {
    expect(rejection(text, START - HOUR)).toBe('future');
    const weekly = codecFor(profiles['koster-1996']);
    const week = new Story(profiles['koster-1996']).meets(outcomes.success());
    expect(rejection(weekly.encode(week))).toBe('lifetime');
    const open = codec.encode(new Story().meets(outcomes.unavailable({ cacheControl: 'max-age=999' }, 403)));
    expect(weekly.decode(open, START).rejected).toBe('profile');
  });

  it('when its file is larger than files may be here, or was cut at a lower limit', () => {
    const larger = codecFor(profiles.rfc9309, 2 * LIMIT);
    const cut = withBody(new Uint8Array(LIMIT).fill(0x41), true);
    expect(larger.decode(codec.encode(cut), START).rejected).toBe('too-large');
    const whole = withBody(new Uint8Array(LIMIT + 1).fill(0x41));
    expect(rejection(larger.encode(whole))).toBe('too-large');
    expect(larger.decode(codec.encode(withBody(bytes('x'))), START).rejected).toBeUndefined();
    expect(rejection(larger.encode(withBody(bytes('x'))))).toBeUndefined();
    expect(rejection('x'.repeat(2_000_000))).toBe('too-large');
  });

  it('when a copy may have been thrown away that would be used here', () => {
    const keeping = codecFor({ ...profiles.rfc9309, keepCopyOnUnavailableMs: HOUR });
    const missing = new Story().meets(outcomes.unavailable());
    expect(keeping.decode(codec.encode(missing), START).rejected).toBe('profile');
    expect(keeping.decode(keeping.encode(missing), START).record).toEqual(missing);
    expect(rejection(keeping.encode(missing))).toBeUndefined();
  });

  it.each([
    ['an unknown key', (entry) => Object.assign(entry, { extra: 1 })],
    ['an unknown kind', (entry) => Object.assign(entry['answer']!, { kind: 'open' })],
    ['a time that is text', (entry) => Object.assign(entry['answer']!, { fetchedAt: 'now' })],
    ['a time before all times', (entry) => Object.assign(entry['answer']!, { fetchedAt: -1 })],
    ['two files', (entry) => Object.assign(entry['copy']!, { base64: '' })],
    ['no file', (entry) => delete entry['copy']!['text']],
    ['a file of another length', (entry) => Object.assign(entry['copy']!, { octets: 3 })],
    ['a validator with a line break', (entry) => Object.assign(entry['copy']!, { etag: '"1"\r\nX-Evil: 1' })],
    ['a validator without end', (entry) => Object.assign(entry['copy']!, { etag: 'x'.repeat(1_025) })],
    ['a URL that is none', (entry) => Object.assign(entry['copy']!, { finalUrl: 'javascript:0' })],
    ['a status that is none', (entry) => Object.assign(entry['answer']!, { status: 0 })],
    ['a copy of no time', (entry) => delete entry['answer']],
  ] as [string, (entry: ReturnType<typeof stored>) => void][])('when it holds %s', (_, change) => {
    const entry = stored(new Story().meets(outcomes.success()));
    expect(rejection(forge(entry))).toBeUndefined();
    change(entry);
    expect(rejection(forge(entry))).toBe('damaged');
  });
});

describe('whatever a forger writes', () => {
  const near = fc.integer({ min: START - 8 * DAY, max: START + DAY });
  const route = { status: fc.constantFrom(200, 200, 204, 301, 403, 404, 429, 503), hops: fc.nat(7) };
  const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
  const answer = fc
    .record({
      ...route,
      kind: fc.constantFrom('rules', 'unavailable', 'restricted'),
      reason: optional(fc.constantFrom('redirect-loop', 'disallowed-redirect')),
      fetchedAt: fc.integer({ min: START - DAY, max: START + SECOND }),
      lifetimeMs: fc.oneof(fc.integer({ min: HOUR, max: DAY }), fc.nat(8 * DAY)),
    })
    .map(({ lifetimeMs, ...rest }) => ({ ...rest, staleAt: rest.fetchedAt + lifetimeMs }));
  const copy = fc.record({ ...route, text: fc.constant(''), octets: fc.constant(0) });
  const failure = fc.record({
    ...route,
    since: near,
    at: near,
    retryAt: near,
    attempts: fc.integer({ min: 1, max: 99 }),
    error: fc.constantFrom('ERR_ROBOTS_STATUS', 'ENOTFOUND'),
  });
  const entry = fc
    .record({ answer, copy: optional(copy), failure: optional(failure) })
    .map((parts) => forge({ origin: ORIGIN, ...parts }));
  const profile = fc.constantFrom(...Object.values(profiles));

  it('no answer opens a site that the profile would not open, nor holds for longer than it lets any', () => {
    let [taken, opened] = [0, 0];
    fc.assert(
      fc.property(entry, profile, (text, profile) => {
        const { record } = codecFor(profile).decode(text, START, ORIGIN);
        if (record?.answer === undefined) return;
        taken++;
        const { origin, answer, copy } = record;
        const alone = { origin, answer, ...(copy === undefined ? {} : { copy }) };
        expect(standing(alone, profile, answer.fetchedAt + profile.lifetime.maxMs).state).toBe('unknown');
        if (standing(alone, profile, START).state !== 'allow-all') return;
        opened++;
        const reason = answer.kind === 'unavailable' ? answer.reason : undefined;
        if (reason === undefined) expect(meaningOfStatus(answer.status, profile)).toBe('unavailable');
        else if (reason === 'disallowed-redirect') expect(profile.disallowedRedirect).toBe('unavailable');
        else expect(profile.tooManyRedirects).toBe('unavailable');
      }),
      // So many that the figures below are reached whatever the chance.
      { numRuns: 2_000 },
    );
    expect(taken).toBeGreaterThan(50);
    expect(opened).toBeGreaterThan(10);
  });
});
