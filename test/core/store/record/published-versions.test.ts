import { describe, expect, it } from 'vitest';
import {
  type OriginRecord,
  type Profile,
  profiles,
  type ThrownDetails,
} from '../../../../src/core/lifecycle/index.ts';
import {
  namespaceKey,
  RECORD_VERSION,
  RecordCodec,
  slotKey,
  storeKey,
} from '../../../../src/core/store/record-codec.ts';
import { DEFAULT_MAX_BODY_BYTES } from '../../../../src/core/base/index.ts';
import { DAY, HOUR, MINUTE, START } from '../../../support/client.ts';

const ORIGIN = 'https://a.example';
const codecFor = (profile: Profile): RecordCodec =>
  new RecordCodec({ maxBodyBytes: DEFAULT_MAX_BODY_BYTES, profileOf: () => profile });
const codec = codecFor(profiles.rfc9309);
/** No other profile restricts. */
const restricting = codecFor(profiles['koster-1996']);

/** Every field that is stored, so that a new one does not compile until it stands here. */
type Whole<Part> = Part extends Uint8Array
  ? Part
  : Part extends object
    ? { readonly [Field in keyof Part]-?: Whole<Part[Field]> }
    : Part;

type Stored = Omit<OriginRecord, 'failure'> & {
  readonly failure?: Omit<NonNullable<OriginRecord['failure']>, keyof ThrownDetails>;
};

const details = {
  status: 200,
  finalUrl: `${ORIGIN}/robots.txt`,
  hops: 1,
  suspect: 'html',
  redirects: [{ url: `${ORIGIN}/r`, status: 301, location: '/robots.txt' }],
  headers: {
    cacheControl: 'max-age=3600',
    expires: '0',
    date: 'Thu, 15 Jan 2026 12:00:00 GMT',
    age: '1',
    etag: '"1"',
    lastModified: 'Thu, 15 Jan 2026 11:00:00 GMT',
    contentType: 'text/plain',
    retryAfter: '60',
    location: '/robots.txt',
  },
} as const;
const times = { fetchedAt: START, staleAt: START + HOUR } as const;

const rules: Whole<Stored> = {
  origin: ORIGIN,
  answer: { ...details, ...times, kind: 'rules', notModified: true },
  failure: {
    ...details,
    status: 503,
    since: START + 2 * HOUR,
    at: START + 3 * HOUR,
    attempts: 2,
    retryAt: START + 3 * HOUR + MINUTE,
    retryAfterMs: MINUTE,
    dead: true,
    error: 'ERR_ROBOTS_STATUS',
  },
  site: { reachable: true, at: START },
  copy: {
    sha256: 'ea6d31e8db52f694cd057844be85295b858f645a36b87822611694301886eae8',
    truncated: false,
    status: 200,
    finalUrl: details.finalUrl,
    hops: 1,
    suspect: 'html',
    fetchedAt: START,
    etag: '"1"',
    lastModified: 'Thu, 15 Jan 2026 11:00:00 GMT',
    contentType: 'text/plain',
    body: new TextEncoder().encode('User-agent: *\nDisallow: /private\nCrawl-delay: 1\n'),
  },
};
const unavailable: OriginRecord = {
  origin: ORIGIN,
  answer: { ...details, ...times, kind: 'unavailable', reason: 'redirect-loop', since: START },
};
const restricted: OriginRecord = {
  origin: ORIGIN,
  answer: { ...details, ...times, status: 403, kind: 'restricted' },
};

/**
 * What each version wrote. When the bytes of this version change, raise `RECORD_VERSION`, and add what it writes then; take
 * none away.
 */
const PUBLISHED: Readonly<Record<number, readonly string[]>> = {
  3: [
    String.raw`{"v":3,"sum":461063490,"maxBodyBytes":512000,"keepCopyOnUnavailableMs":0,"record":{"origin":"https://a.example","answer":{"kind":"rules","status":200,"finalUrl":"https://a.example/robots.txt","hops":0,"fetchedAt":1768478400000,"staleAt":1768482000000,"headers":{"contentType":"text/plain","cacheControl":"max-age=3600","etag":"\"1\""}},"copy":{"truncated":false,"status":200,"finalUrl":"https://a.example/robots.txt","hops":0,"fetchedAt":1768478400000,"etag":"\"1\"","sha256":"ea6d31e8db52f694cd057844be85295b858f645a36b87822611694301886eae8","contentType":"text/plain","body":"User-agent: *\nDisallow: /private\nCrawl-delay: 1\n"}}}`,
  ],
  4: [
    String.raw`{"v":4,"sum":3003656931,"maxBodyBytes":512000,"keepCopyOnUnavailableMs":0,"record":{"origin":"https://a.example","answer":{"status":200,"finalUrl":"https://a.example/robots.txt","hops":1,"suspect":"html","redirects":[{"url":"https://a.example/r","status":301,"location":"/robots.txt"}],"headers":{"cacheControl":"max-age=3600","expires":"0","date":"Thu, 15 Jan 2026 12:00:00 GMT","age":"1","etag":"\"1\"","lastModified":"Thu, 15 Jan 2026 11:00:00 GMT","contentType":"text/plain","retryAfter":"60","location":"/robots.txt"},"fetchedAt":1768478400000,"staleAt":1768482000000,"kind":"rules","notModified":true},"failure":{"status":503,"finalUrl":"https://a.example/robots.txt","hops":1,"suspect":"html","redirects":[{"url":"https://a.example/r","status":301,"location":"/robots.txt"}],"headers":{"cacheControl":"max-age=3600","expires":"0","date":"Thu, 15 Jan 2026 12:00:00 GMT","age":"1","etag":"\"1\"","lastModified":"Thu, 15 Jan 2026 11:00:00 GMT","contentType":"text/plain","retryAfter":"60","location":"/robots.txt"},"since":1768485600000,"at":1768489200000,"attempts":2,"retryAt":1768489260000,"retryAfterMs":60000,"dead":true,"error":"ERR_ROBOTS_STATUS"},"site":{"reachable":true,"at":1768478400000},"copy":{"sha256":"ea6d31e8db52f694cd057844be85295b858f645a36b87822611694301886eae8","truncated":false,"status":200,"finalUrl":"https://a.example/robots.txt","hops":1,"suspect":"html","fetchedAt":1768478400000,"etag":"\"1\"","lastModified":"Thu, 15 Jan 2026 11:00:00 GMT","contentType":"text/plain","body":"User-agent: *\nDisallow: /private\nCrawl-delay: 1\n"}}}`,
    String.raw`{"v":4,"sum":1213596814,"maxBodyBytes":512000,"keepCopyOnUnavailableMs":0,"record":{"origin":"https://a.example","answer":{"status":200,"finalUrl":"https://a.example/robots.txt","hops":1,"suspect":"html","redirects":[{"url":"https://a.example/r","status":301,"location":"/robots.txt"}],"headers":{"cacheControl":"max-age=3600","expires":"0","date":"Thu, 15 Jan 2026 12:00:00 GMT","age":"1","etag":"\"1\"","lastModified":"Thu, 15 Jan 2026 11:00:00 GMT","contentType":"text/plain","retryAfter":"60","location":"/robots.txt"},"fetchedAt":1768478400000,"staleAt":1768482000000,"kind":"unavailable","reason":"redirect-loop","since":1768478400000}}}`,
    String.raw`{"v":4,"sum":2925475379,"maxBodyBytes":512000,"keepCopyOnUnavailableMs":0,"record":{"origin":"https://a.example","answer":{"status":403,"finalUrl":"https://a.example/robots.txt","hops":1,"suspect":"html","redirects":[{"url":"https://a.example/r","status":301,"location":"/robots.txt"}],"headers":{"cacheControl":"max-age=3600","expires":"0","date":"Thu, 15 Jan 2026 12:00:00 GMT","age":"1","etag":"\"1\"","lastModified":"Thu, 15 Jan 2026 11:00:00 GMT","contentType":"text/plain","retryAfter":"60","location":"/robots.txt"},"fetchedAt":1768478400000,"staleAt":1768482000000,"kind":"restricted"}}}`,
  ],
};

describe('a record of a published version', () => {
  const current = PUBLISHED[RECORD_VERSION] ?? [];

  it('of this one is written byte for byte as it was, and read', () => {
    const written = [codec.encode(rules), codec.encode(unavailable), restricting.encode(restricted)];
    expect(written).toEqual(current);
    const read = [codec, codec, restricting].map((by, at) => by.decode(current[at], START + DAY, ORIGIN));
    expect(read).toEqual([rules, unavailable, restricted].map((record) => ({ record })));
  });

  const others = Object.entries(PUBLISHED).filter(([version]) => Number(version) !== RECORD_VERSION);
  it.each(others)('%s is a miss, and stays in the store for those who read it', (version, texts) => {
    for (const text of texts) expect(codec.decode(text, START, ORIGIN)).toEqual({ rejected: 'version' });
    const namespace = namespaceKey({ token: 'ExampleBot', addressPolicy: 'any' });
    for (const kind of ['record', 'lease'] as const) {
      expect(storeKey(kind, namespace, ORIGIN)).not.toContain(`v${version}:`);
    }
  });
});

it('the key of slots and pauses does not change with that of records: a fleet of two versions has one schedule', () => {
  expect(slotKey('a.example')).toBe('slot:v1:a.example');
});
