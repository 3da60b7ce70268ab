import { brotliCompressSync, constants, createGzip, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/lifecycle/outcome.ts';
import { Moment } from '../../support/moment.ts';
import { runSteps } from '../../support/socket-steps.ts';
import { bodyOf, context, DECODED, LIMIT, lines, RULES, UNDECODED } from './context.ts';

const CODINGS: readonly (readonly [field: string, encode: (text: string) => Uint8Array])[] = [
  ['gzip', (text) => gzipSync(text)],
  ['x-gzip', (text) => gzipSync(text)],
  ['deflate', (text) => deflateSync(text)],
  ['br', (text) => brotliCompressSync(text)],
  ['identity', (text) => Buffer.from(text)],
  ['deflate, gzip', (text) => gzipSync(deflateSync(text))],
];

let bomb: Uint8Array | undefined;
/** 64 MiB in some 300 bytes: made once, which takes longer than all else here. */
const bombOnce = (): Uint8Array => (bomb ??= gzipSync(gzipSync(Buffer.alloc(64 << 20, '#'), { level: 1 })));

describe.each(UNDECODED)('content codings decoded here, over %s', (_name, make) => {
  const { site, rawSite, fetch } = context(make());
  const encoded = async (field: string, body: Uint8Array): Promise<string> => {
    const { origin } = await site({ '/robots.txt': { headers: { 'content-encoding': field }, body } });
    return origin;
  };

  it.each(CODINGS)('undoes %s', async (field, encode) => {
    expect(bodyOf(await fetch(await encoded(field, encode(RULES))))).toBe(RULES);
  });

  it('reads no more of a decompression bomb than the limit', async () => {
    const comment = Buffer.alloc(1 << 20, '#');
    let sent = 0;
    const closed = new Moment();
    const { origin } = await site((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.on('close', closed.now);
      const gzip = createGzip();
      gzip.on('data', (chunk: Buffer) => (sent += chunk.byteLength));
      gzip.pipe(response);
      const more = (): void => {
        if (!response.destroyed) gzip.write(comment, more);
      };
      more();
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'success', truncated: true, body: new Uint8Array(0) });
    await closed.come;
    // A comment of 512,000 bytes is some 500 bytes; what a few buffers on the way hold comes on top.
    expect(sent).toBeLessThan(200_000);
  });

  it('ends at the deadline for coded bytes that decode to none', async () => {
    const emptyBlocks = Buffer.alloc(65_536);
    for (let at = 0; at + 5 <= emptyBlocks.byteLength; at += 5) emptyBlocks.set([0, 0, 0, 0xff, 0xff], at);
    const whole = emptyBlocks.subarray(0, 65_535);
    const { origin } = await rawSite((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: deflate\r\n\r\n');
      const more = (): void => {
        if (!socket.destroyed) socket.write(whole, more);
      };
      more();
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_CONTENT_CODING' });
  });

  it('undoes several codings in turn, also over repeated fields', async () => {
    const body = brotliCompressSync(gzipSync(deflateRawSync(RULES)));
    const { origin } = await site({
      '/robots.txt': { headers: { 'content-encoding': ['deflate, gzip', 'br'] }, body },
    });
    expect(bodyOf(await fetch(origin))).toBe(RULES);
  });

  it.each([
    ['gzip', 200, lines(LIMIT + 3_000)],
    ['br', 200, lines(LIMIT + 3_000)],
    ['br, gzip', 200, lines(LIMIT + 3_000)],
    ['gzip', 403, '<p>Forbidden</p>'.repeat(1_300)],
    ['br', 403, '<p>Forbidden</p>'.repeat(1_300)],
  ])(
    'releases a body in %s with the status %i whose decoder waits for more input',
    async (coding, status, page) => {
      const closed = new Moment();
      const { origin } = await rawSite((socket) => {
        socket.once('close', closed.now);
        socket.write(
          `HTTP/1.1 ${status} Status\r\ncontent-type: text/html\r\ncontent-encoding: ${coding}\r\n`,
        );
        socket.write('content-length: 9999999\r\n\r\n');
        // All of the page, but not the end of the stream.
        const flush = { finishFlush: constants.Z_SYNC_FLUSH };
        const brotli = { finishFlush: constants.BROTLI_OPERATION_FLUSH };
        const inner = coding.startsWith('br') ? brotliCompressSync(page, brotli) : Buffer.from(page);
        socket.write(coding.endsWith('gzip') ? gzipSync(inner, flush) : inner);
      });
      expect(await fetch(origin)).toMatchObject(
        status === 200 ? { kind: 'success', truncated: true } : { kind: 'unavailable', status },
      );
      await closed.come;
    },
  );

  it('takes little memory for a decompression bomb', async () => {
    const { origin } = await site({
      '/robots.txt': { headers: { 'content-encoding': 'gzip, gzip' }, body: bombOnce() },
    });
    await fetch(origin);
    const before = process.memoryUsage();
    expect(await fetch(origin)).toMatchObject({ kind: 'success', truncated: true });
    const after = process.memoryUsage();
    expect(after.external + after.heapUsed - before.external - before.heapUsed).toBeLessThan(8 << 20);
  });
});

describe.each(DECODED)(
  'content codings over %s, which does not show where a coded body ends',
  (_name, make) => {
    const { site, fetch } = context(make());

    it('are not asked for', async () => {
      const { origin, requests } = await site({ '/robots.txt': { body: RULES } });
      expect(bodyOf(await fetch(origin))).toBe(RULES);
      expect(requests[0]?.headers['accept-encoding']).toBe('identity');
    });

    it.each(CODINGS.map(([field]) => [field]).filter(([field]) => field !== 'identity'))(
      'are refused all the same: %j',
      async (...fields) => {
        const { origin } = await site({
          '/robots.txt': { headers: { 'content-encoding': fields }, body: gzipSync(RULES) },
        });
        expect(await fetch(origin)).toMatchObject({
          kind: 'unreachable',
          status: 200,
          error: 'ERR_ROBOTS_CONTENT_CODING',
        });
      },
    );
  },
);

describe.each(UNDECODED)('the end of a coded body over %s', (_name, make) => {
  const { rawSite, fetch } = context(make());
  const reply = async (fields: string, ...writes: readonly Uint8Array[]): Promise<Outcome> => {
    const { origin } = await rawSite((socket) => {
      void runSteps(socket, [`HTTP/1.1 200 OK\r\n${fields}\r\n`, ...writes, 'end']);
    });
    return fetch(origin);
  };
  const coded = (coding: string, ...writes: readonly Uint8Array[]): Promise<Outcome> =>
    reply(`content-encoding: ${coding}\r\n`, ...writes);

  const ENCODERS: readonly (readonly [coding: string, encode: (text: string) => Uint8Array])[] = [
    ['gzip', (text) => gzipSync(text)],
    ['deflate', (text) => deflateSync(text)],
    ['deflate', (text) => deflateRawSync(text)],
    ['br', (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })],
  ];
  const TRAILERS: readonly (readonly [what: string, bytes: Uint8Array])[] = [
    ['text', Buffer.from(RULES)],
    ['one zero', Buffer.alloc(1)],
    ['zeros and a gzip member', Buffer.concat([Buffer.alloc(8), gzipSync(RULES)])],
    ['a gzip member', gzipSync(RULES)],
    ['an empty gzip member', gzipSync('')],
  ];

  describe.each(ENCODERS)('%s', (coding, encode) => {
    // What follows a member of gzip and is no zero is read as the next one.
    const begins = (trailer: Uint8Array): boolean => coding === 'gzip' && trailer[0] !== 0;

    it.each(TRAILERS.filter(([, trailer]) => coding !== 'gzip' || trailer[0] !== 0x1f))(
      'refuses %s after it, in the same segment or in one of its own',
      async (_what, trailer) => {
        for (const text of ['', RULES, lines(100_000)]) {
          const stream = encode(text);
          for (const writes of [[Buffer.concat([stream, trailer])], [stream, trailer]]) {
            expect(await coded(coding, ...writes)).toMatchObject({
              kind: 'unreachable',
              status: 200,
              error: begins(trailer) ? 'ERR_ROBOTS_CONTENT_CODING' : 'ERR_ROBOTS_TRAILING_BYTES',
            });
          }
        }
      },
    );

    it('refuses it where it is cut, wherever that is', async () => {
      const stream = encode(RULES);
      for (let length = 0; length < stream.length; length += 5) {
        expect(await coded(coding, stream.subarray(0, length))).toMatchObject({
          kind: 'unreachable',
          error: 'ERR_ROBOTS_CONTENT_CODING',
        });
      }
    });

    it('reads it in segments of one byte', async () => {
      const { origin } = await rawSite((socket) => {
        const stream = encode(RULES);
        socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${coding}\r\ntransfer-encoding: chunked\r\n\r\n`);
        for (const byte of stream) {
          socket.write('1\r\n');
          socket.write(Buffer.of(byte));
          socket.write('\r\n');
        }
        socket.write('0\r\n\r\n');
      });
      expect(bodyOf(await fetch(origin))).toBe(RULES);
    });

    it('refuses a trailer after a stream under another coding', async () => {
      const inner = Buffer.concat([encode(RULES), Buffer.alloc(1)]);
      expect(await coded(`${coding}, gzip`, gzipSync(inner))).toMatchObject({
        kind: 'unreachable',
        error: 'ERR_ROBOTS_TRAILING_BYTES',
      });
    });
  });

  it.each(['content-encoding: gzip\r\n', 'content-encoding: br\r\n', 'content-encoding: gzip, deflate\r\n'])(
    'takes no bytes at all for a file only with Content-Length: 0 (%j)',
    async (fields) => {
      expect(await reply(fields)).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_CONTENT_CODING' });
      const chunked = await reply(`${fields}transfer-encoding: chunked\r\n`, Buffer.from('0\r\n\r\n'));
      expect(chunked).toMatchObject({ kind: 'unreachable', error: 'ERR_ROBOTS_CONTENT_CODING' });
      const empty = await reply(`${fields}content-length: 0\r\n`);
      expect(empty).toMatchObject({ kind: 'success', body: new Uint8Array(0) });
    },
  );

  it('reads all members of a gzip stream (RFC 1952 §2.2)', async () => {
    const members = [gzipSync(RULES), gzipSync(''), gzipSync('Disallow: /last')];
    for (const writes of [members, [Buffer.concat(members)]])
      expect(bodyOf(await coded('gzip', ...writes))).toBe(`${RULES}Disallow: /last`);
    expect(await coded('gzip', members[0]!, members[2]!.subarray(0, 20))).toMatchObject({
      error: 'ERR_ROBOTS_CONTENT_CODING',
    });
  });

  it.each([1, 5])('refuses a gzip member whose byte %i from the end was changed', async (fromEnd) => {
    const stream = gzipSync(RULES);
    stream[stream.length - fromEnd]! ^= 1;
    expect(await coded('gzip', stream)).toMatchObject({ error: 'ERR_ROBOTS_CONTENT_CODING' });
  });
});
