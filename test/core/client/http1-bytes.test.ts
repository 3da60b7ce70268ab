import { request } from 'undici';
import { afterAll, describe, expect, it } from 'vitest';
import { platform } from '#platform';
import fc from '../../support/fast-check.ts';
import { startRawSite } from '../../support/site.ts';
import { runs } from '../../support/thorough.ts';
import { type Judgement, judge } from './http1-oracle.ts';
import { Wire } from './wire.ts';
import type { WireCase, WireResult } from './wire-process.ts';

const RULES = 'User-agent: *\nDisallow: /x\n';
const CHUNKS = `d\r\n${RULES.slice(0, 13)}\r\nE;a=b\r\n${RULES.slice(13)}\r\n0\r\n`;

/** A part as it should be in six cases of seven. */
const mostly = <Value>(good: Value, ...others: Value[]): fc.Arbitrary<Value> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constant(good) },
    { weight: 1, arbitrary: fc.constantFrom(good, ...others) },
  );

/** A field, and the white space around its value, of which `mostly` takes none. */
const field = (name: string, value: fc.Arbitrary<string>, spaces: readonly string[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(name, name.toLowerCase(), name.toUpperCase()),
      mostly(' ', ...spaces),
      value,
      mostly('', ...spaces),
    )
    .map(([key, before, text, after]) => `${key}:${before}${text}${after}\r\n`);

const otherField = fc.oneof(
  field('X-Other', fc.constantFrom('', 'a', '"b, c"', 'caf\xe9'), ['', ' ', '\t']),
  mostly(
    'etag: "1"\r\n',
    ...['x: \0', 'x : a', 'x: a\r\n folded', ' x: a', ': a', 'x', 'x: a\rb'].map((line) => `${line}\r\n`),
    'x: a\n',
  ),
);

const chunks = mostly(
  CHUNKS,
  CHUNKS.replace('d', 'D'),
  CHUNKS.replace('d\r', 'z\r'),
  CHUNKS.replace('d\r', 'e\r'),
);
const lastChunk = mostly('\r\n', 'x-sum: 1\r\n\r\n', '');
const twoFields = ['content-length: 27', 'content-length: 5', 'transfer-encoding: chunked'].map(
  (line) => `content-length: 27\r\n${line}\r\n`,
);

/** A body, and the fields that say how long it is. */
function framed(spaces: readonly string[]): fc.Arbitrary<[fields: string, body: string]> {
  const length = mostly(String(RULES.length), '14', '99', '-1', '+27', '2 7', '0x1b', '');
  const coding = mostly('chunked', 'gzip', 'chunked, chunked', 'identity', 'xchunked');
  return fc.oneof(
    fc.tuple(field('Content-Length', length, spaces), fc.constant(RULES)),
    fc.tuple(
      field('Transfer-Encoding', coding, spaces),
      fc.tuple(chunks, lastChunk).map(([all, end]) => all + end),
    ),
    fc.tuple(fc.constant(''), fc.constant(RULES)),
    fc.tuple(fc.constantFrom(...twoFields), fc.constantFrom(RULES, `${CHUNKS}\r\n`)),
  );
}

const statusLine = (statuses: fc.Arbitrary<string>, versions: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(versions, statuses, mostly(' OK', '', ' ', ' \xe9', ' a\tb'))
    .map(([version, status, reason]) => `${version} ${status}${reason}\r\n`);

interface Wanted {
  readonly versions: readonly string[];
  readonly starts: readonly string[];
  readonly interim: readonly string[];
  readonly spaces: readonly string[];
}

/** The bytes of a server, and where they are cut into pieces. */
function responses({
  versions,
  starts,
  interim,
  spaces,
}: Wanted): fc.Arbitrary<readonly [text: string, cuts: readonly number[]]> {
  const version = mostly('HTTP/1.1', ...versions);
  const interims = fc
    .tuple(statusLine(fc.constantFrom(...interim), version), fc.array(otherField, { maxLength: 1 }))
    .map(([line, fields]) => `${line}${fields.join('')}\r\n`);
  return fc
    .tuple(
      mostly('', ...starts),
      fc.array(interims, { maxLength: 2 }),
      statusLine(
        mostly('200', '404', '410', '204', '503', '429', '301', '600', '1000', '40', '4x4', '-04'),
        version,
      ),
      fc.array(otherField, { maxLength: 2 }),
      framed(spaces),
      fc.option(fc.nat(300), { nil: undefined, freq: 3 }),
      fc.array(fc.nat(300), { maxLength: 3 }),
    )
    .map(([start, before, line, fields, [framing, body], end, cuts]) => [
      `${start}${before.join('')}${line}${fields.join('')}${framing}\r\n${body}`.slice(0, end),
      cuts,
    ]);
}

function inPieces(text: string, cuts: readonly number[]): string[] {
  const at = [0, ...[...cuts].sort((a, b) => a - b), text.length];
  return at.flatMap((end, index) => {
    const piece = text.slice(at[index - 1] ?? 0, end);
    return piece === '' ? [] : [Buffer.from(piece, 'latin1').toString('base64')];
  });
}

function outcomeOf({ state, allowed }: WireResult): Judgement {
  if (state === 'rules') return allowed ? 'allowed by rules' : 'disallowed by rules';
  return allowed ? 'allowed' : 'refused';
}

/** What a client may decide. */
const ACCEPTED: Readonly<Record<Judgement, readonly Judgement[]>> = {
  allowed: ['allowed'],
  'allowed by rules': ['allowed by rules'],
  'disallowed by rules': ['disallowed by rules'],
  refused: ['refused'],
  'allowed or refused': ['allowed', 'allowed by rules', 'refused'],
  'disallowed by rules or refused': ['disallowed by rules', 'refused'],
};

/**
 * What the parser behind `fetch` on Node 20 and 22 lets pass: white space before a colon, a field without a name, and a value
 * that goes on in the next line. RFC 9112 §5.2 has clients replace the latter "with one or more SP octets", or refuse it.
 */
const LENIENT: readonly (readonly [RegExp, string])[] = [
  [/^(\S*:.*)\r\n[ \t]+/gm, '$1 '],
  [/^([\w-]+)[ \t]+:/gm, '$1:'],
  [/^:.*\r\n/gm, ''],
];
const readLeniently = (text: string): string =>
  LENIENT.reduce((read, [form, instead]) => read.replaceAll(form, instead), text);

const TRANSPORTS: readonly (readonly [WireCase['transport'], Wanted])[] = [
  [
    'undici',
    {
      versions: [
        'HTTP/1.0',
        'HTTP/0.9',
        'HTTP/2.0',
        'HTTP/1.2',
        'http/1.1',
        'RTSP/1.0',
        'ICE/1.0',
        'HTTP/1.1 ',
      ],
      starts: ['\r\n', '\n', '\r', '\r\r\n', '\r\n\r\n', ' '],
      interim: ['100', '102', '103', '199', '101', '099'],
      spaces: ['', ' ', '\t', ' \t '],
    },
  ],
  [
    // It takes other versions, and knows neither 100 nor tabs: the guide says so. From Node 22 on it continues after a 101.
    'fetch',
    {
      versions: ['HTTP/1.0', 'http/1.1', 'HTTP/1.2'],
      starts: ['\r\n', '\n', '\r\n\r\n', ' '],
      interim: ['102', '103', '199', '099'],
      spaces: ['', ' ', '  '],
    },
  ],
];

describe.each(TRANSPORTS)('RFC 9112: whatever a server sends, over %s', (transport, wanted) => {
  const wire = new Wire();
  afterAll(() => wire.close());

  it('is decided as the standard reads it', async () => {
    await fc.assert(
      fc.asyncProperty(responses(wanted), async ([text, cuts]) => {
        const result = await wire.ask({ protocol: 'http1', transport, pieces: inPieces(text, cuts) });
        const read = transport === 'fetch' ? readLeniently(text) : text;
        const accepted = [...ACCEPTED[judge(text)], ...ACCEPTED[judge(read)]];
        expect(accepted).toContain(outcomeOf(result));
      }),
      { numRuns: runs(300) },
    );
  }, 600_000);
});

describe('a response with more content codings than undici takes', () => {
  const codings: readonly (readonly [name: string, fields: string])[] = [
    ['six items', 'content-encoding: gzip, gzip, gzip, gzip, gzip, gzip\r\n'],
    ['six lines', 'Content-Encoding: gzip\r\n'.repeat(6)],
    ['empty items', 'content-encoding: x,,,,,,\r\n'],
  ];

  it.each(codings)('does not end the process of a `fetch`, and its status counts: %s', async (_, fields) => {
    const wire = new Wire();
    for (const [status, expected] of [
      [200, { state: 'disallow-all', status: 200, error: 'ERR_ROBOTS_CONTENT_CODING' }],
      [404, { state: 'allow-all', status: 404 }],
    ] as const) {
      const text = `HTTP/1.1 ${status} Status\r\n${fields}content-length: 99\r\n\r\nabc`;
      const asked = { protocol: 'http1', transport: 'fetch', pieces: inPieces(text, []) } as const;
      expect(await wire.ask(asked)).toMatchObject(expected);
    }
    await wire.close();
  });

  it.each(codings)('does not end the process of a guarded `fetch`: %s', async (_, fields) => {
    const wire = new Wire();
    const text = `HTTP/1.1 200 OK\r\n${fields}content-length: 99\r\n\r\nabc`;
    const page = await wire.ask({ protocol: 'http1', transport: 'guardFetch', pieces: inPieces(text, []) });
    expect(page).toEqual({ state: 'page', allowed: true, status: 200 });
    await wire.close();
  });

  it('is left as it is below that, and for other requests than those of a `fetch`', async () => {
    platform.undici?.surviveManyCodings();
    for (const [fields, encoding] of [
      ['content-encoding: gzip,x\r\ncontent-encoding: y\r\n', ['gzip,x', 'y']],
      ['content-encoding: a,b,c,d,e,f\r\n', 'a,b,c,d,e,f'],
    ] as const) {
      const site = await startRawSite((socket) => socket.end(`HTTP/1.1 404 No\r\n${fields}\r\n`));
      const { headers, body } = await request(site.url('/'));
      await body.dump();
      expect(headers['content-encoding']).toEqual(encoding);
      await site.close();
    }
  });
});
