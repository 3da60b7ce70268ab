import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  classifyStatus,
  type OriginRecord,
  type Profile,
  profiles,
  stateOf,
} from '../../../../src/core/lifecycle/index.ts';
import { RecordCodec } from '../../../../src/core/store/record-codec.ts';
import fc from '../../../support/fast-check.ts';
import { DAY, HOUR, outcomes, SECOND, START, Story } from '../../lifecycle/support.ts';
import { runs } from '../../../support/thorough.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../../../src/core/base/index.ts';

const ORIGIN = 'https://example.com';
const LIMIT = DEFAULT_MAX_BODY_BYTES;

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
  return `{"v":4,"sum":${crc32(rest)},${rest}`;
}

interface Stored {
  record: Record<string, Record<string, unknown>>;
}

/** An entry as it is stored, to be changed. */
function stored(record: OriginRecord): Stored {
  return JSON.parse(codec.encode(record).replace(/^\{"v":4,"sum":\d+,/, '{'));
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
    ['a site signal', { origin: ORIGIN, site }],
    ['a site signal beside rules', { ...success, site }],
  ] as [string, OriginRecord][])('comes back as it was: %s', async (_, record) => {
    expect(codec.decode(codec.encode(record), START + 2 * DAY, ORIGIN)).toEqual({ record });
  });

  it('keeps every byte', async () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 400 }),
      fc.string({ unit: 'binary', maxLength: 200 }).map(bytes),
      fc.string({ unit: 'binary', maxLength: 100 }).map((text) => bytes(`\uFEFF${text}\r\n\0`)),
    );
    await fc.assert(
      fc.asyncProperty(body, async (bytes) => {
        const { record } = codec.decode(codec.encode(withBody(bytes)), START, ORIGIN);
        expect(record?.copy?.body).toEqual(bytes);
      }),
      { numRuns: runs(200) },
    );
  });

  it('of the largest file fits, in either encoding', async () => {
    for (const byte of [0x00, 0x22, 0x41, 0xff]) {
      const body = new Uint8Array(LIMIT).fill(byte);
      const { record } = codec.decode(codec.encode(withBody(body, true)), START, ORIGIN);
      expect(record?.copy?.body.length).toBe(LIMIT);
    }
  });

  it('does not keep more than the file in memory', async () => {
    const text = codec.encode(withBody(new Uint8Array([0xff, 0xfe, 0x00])));
    expect(codec.decode(text, START, ORIGIN).record?.copy?.body.buffer.byteLength).toBe(3);
  });
});

describe('an entry is rejected', () => {
  const text = codec.encode(new Story().meets(outcomes.success()));
  const rejection = async (entry: unknown, now = START, origin = ORIGIN): Promise<unknown> =>
    codec.decode(entry, now, origin).rejected;

  it('when it is not a record', async () => {
    for (const entry of ['', '{}', 'OK', '{"v":4}', text.slice(0, -1), `${text} `, 5, Buffer.from(text)]) {
      expect(await rejection(entry)).toBe('damaged');
    }
  });

  it('when one character was changed', async () => {
    const place = fc.integer({ min: 0, max: text.length - 1 });
    await fc.assert(
      fc.asyncProperty(
        place,
        fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
        async (at, character) => {
          fc.pre(text[at] !== character && !/^.\{"v":\d,/.test(character));
          expect(['damaged', 'version']).toContain(
            await rejection(text.slice(0, at) + character + text.slice(at + 1)),
          );
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it('when it was read in another character set than it was written in', async () => {
    const written = codec.encode(withBody(bytes('User-agent: *\nDisallow: /ä\n')));
    expect(await rejection(Buffer.from(written, 'utf8').toString('latin1'))).toBe('damaged');
    expect(await rejection(written)).toBeUndefined();
  });

  it('when another version wrote it', async () => {
    for (const entry of [
      '{"v":5,"sum":1,"x":1}',
      '{"v":1,"sum":1,"origin":"https://example.com"}',
      text.replace('"v":4', '"v":9'),
    ]) {
      expect(await rejection(entry)).toBe('version');
    }
  });

  it('when it is for another origin', async () => {
    expect(await rejection(text, START, 'https://example.com:8443')).toBe('origin');
    expect(await rejection(text, START, 'http://example.com')).toBe('origin');
  });

  it('when its file is larger than the limit here, or was truncated at a lower one', async () => {
    const larger = codecFor(profiles.rfc9309, 2 * LIMIT);
    const cut = withBody(new Uint8Array(LIMIT).fill(0x41), true);
    expect(larger.decode(codec.encode(cut), START, ORIGIN).rejected).toBe('too-large');
    const whole = withBody(new Uint8Array(LIMIT + 1).fill(0x41));
    expect(await rejection(larger.encode(whole))).toBe('too-large');
    expect(larger.decode(codec.encode(withBody(bytes('x'))), START, ORIGIN).rejected).toBeUndefined();
    expect(await rejection(larger.encode(withBody(bytes('x'))))).toBeUndefined();
    expect(await rejection('x'.repeat(2_000_000))).toBe('too-large');
  });

  it('when the other profile may have discarded a copy that ours would use', async () => {
    const keeping = codecFor({ ...profiles.rfc9309, keepCopyOnUnavailableMs: HOUR });
    const missing = new Story().meets(outcomes.unavailable());
    expect(keeping.decode(codec.encode(missing), START, ORIGIN).rejected).toBe('profile');
    expect(keeping.decode(keeping.encode(missing), START, ORIGIN).record).toEqual(missing);
    expect(await rejection(keeping.encode(missing))).toBeUndefined();
  });

  // The limits of each member are in ./record-schema.test.ts.
  it.each([
    ['an unknown key', ({ record }) => Object.assign(record, { extra: 1 })],
    ['an unknown key of the copy', ({ record }) => Object.assign(record['copy']!, { bytes: 3 })],
    [
      'what only another kind has',
      ({ record }) => Object.assign(record['answer']!, { reason: 'redirect-loop' }),
    ],
    ['an answer without its end', ({ record }) => delete record['answer']!['staleAt']],
    ['two files', ({ record }) => Object.assign(record['copy']!, { body: { base64: '', text: '' } })],
    ['no file', ({ record }) => delete record['copy']!['body']],
    ['no limit', (entry) => Reflect.deleteProperty(entry, 'maxBodyBytes')],
  ] as [string, (entry: Stored) => void][])('when it holds %s', async (_, change) => {
    const entry = stored(new Story().meets(outcomes.success()));
    expect(await rejection(forge(entry))).toBeUndefined();
    change(entry);
    expect(await rejection(forge(entry))).toBe('damaged');
  });
});

describe('any forged record', () => {
  const near = fc.integer({ min: START - 8 * DAY, max: START + DAY });
  const route = {
    status: fc.constantFrom(200, 200, 204, 301, 403, 404, 429, 503),
    finalUrl: fc.constant(`${ORIGIN}/robots.txt`),
    hops: fc.nat(7),
  };
  const optional = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined });
  const answer = fc
    .record({
      ...route,
      kind: fc.constantFrom('rules', 'unavailable', 'restricted'),
      reason: optional(fc.constantFrom('redirect-loop', 'disallowed-redirect')),
      fetchedAt: fc.integer({ min: START - DAY, max: START + SECOND }),
      lifetimeMs: fc.oneof(fc.integer({ min: HOUR, max: DAY }), fc.nat(8 * DAY)),
    })
    .map(({ lifetimeMs, reason, ...rest }) => ({
      ...rest,
      staleAt: rest.fetchedAt + lifetimeMs,
      ...(rest.kind === 'unavailable' ? { reason, since: rest.fetchedAt } : {}),
    }));
  const copy = fc.record({ ...route, body: fc.constant(''), truncated: fc.boolean() });
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
    .map(({ copy: alone, ...parts }) => ({
      ...parts,
      copy: alone === undefined ? undefined : { ...alone, fetchedAt: parts.answer.fetchedAt },
    }))
    .map((parts) =>
      forge({ record: { origin: ORIGIN, ...parts }, maxBodyBytes: LIMIT, keepCopyOnUnavailableMs: 0 }),
    );
  const profile = fc.constantFrom(...Object.values(profiles));

  it('allows nothing that the profile would not, and for no longer than it allows', async () => {
    let [taken, opened] = [0, 0];
    await fc.assert(
      fc.asyncProperty(entry, profile, async (text, profile) => {
        const { record } = codecFor(profile).decode(text, START, ORIGIN);
        if (record?.answer === undefined) return;
        taken++;
        const { origin, answer, copy } = record;
        const alone = { origin, answer, ...(copy === undefined ? {} : { copy }) };
        expect(stateOf(alone, profile, answer.fetchedAt + profile.lifetime.maxMs).state).toBe('unknown');
        if (stateOf(alone, profile, START).state !== 'allow-all') return;
        opened++;
        const reason = answer.kind === 'unavailable' ? answer.reason : undefined;
        if (reason === undefined) expect(classifyStatus(answer.status, profile)).toBe('unavailable');
        else if (reason === 'disallowed-redirect') expect(profile.disallowedRedirect).toBe('unavailable');
        else expect(profile.tooManyRedirects).toBe('unavailable');
      }),
      // So many that the figures below are reached whatever the chance.
      { numRuns: runs(3_000) },
    );
    expect(taken).toBeGreaterThan(runs(10));
    expect(opened).toBeGreaterThan(runs(2));
  });
});
