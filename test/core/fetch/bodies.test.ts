import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { Moment } from '../../support/moment.ts';
import { bodyOf, context, LIMIT, lines, RULES, TRANSPORTS } from './context.ts';

describe.each(TRANSPORTS)('the body limit over %s', (_name, make) => {
  const { site, rawSite, fetch } = context(make());
  const read = async (
    body: string | Uint8Array,
  ): Promise<{ body: string; truncated: boolean; bytes: number }> => {
    const { origin } = await site({ '/robots.txt': { body } });
    const outcome = await fetch(origin);
    if (outcome.kind !== 'success') throw new Error(JSON.stringify(outcome));
    expect(outcome.body.buffer.byteLength).toBe(outcome.body.byteLength);
    expect(outcome.body.constructor).toBe(Uint8Array);
    return { body: bodyOf(outcome), truncated: outcome.truncated, bytes: outcome.body.byteLength };
  };

  it('reads small files into memory of exactly their size', async () => {
    expect(await read(RULES)).toEqual({ body: RULES, truncated: false, bytes: RULES.length });
    expect(await read('')).toEqual({ body: '', truncated: false, bytes: 0 });
    const several = lines(200_000);
    expect((await read(several)).body === several).toBe(true);
  });

  it('can be raised', async () => {
    const file = `${lines(600_000)}\n`;
    const { origin } = await site({ '/robots.txt': { body: file } });
    const outcome = await fetch(origin, { maxBodyBytes: 700_000 });
    expect(outcome).toMatchObject({ kind: 'success', truncated: false });
    expect(bodyOf(outcome) === file).toBe(true);
  });

  it('ignores what follows the limit, and releases the socket', async () => {
    const closed = new Moment();
    const { origin } = await rawSite((socket) => {
      socket.once('close', closed.now);
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${lines(LIMIT)}\nmore`);
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'success', truncated: true });
    await closed.come;
  });
});

/** How files of other formats begin, and texts that look like them. */
const NOT_TEXT: readonly (readonly [name: string, body: Uint8Array])[] = [
  ['gzip without its field', gzipSync(RULES)],
  ['Zstandard', Buffer.from('28b52ffd2000', 'hex')],
  ['PNG', Buffer.from('89504e470d0a1a0a', 'hex')],
  ['PDF', Buffer.from(`%PDF-1.7\n${RULES}`)],
  ['ZIP', Buffer.from(`PK\u0003\u0004${RULES}`)],
  ['UTF-16LE without a mark', Buffer.from(RULES, 'utf16le')],
  ['UTF-16BE without a mark', Buffer.from(RULES, 'utf16le').swap16()],
  ['UTF-32BE with a mark', Buffer.from('0000feff0000005500000073', 'hex')],
  ['NULs', Buffer.alloc(100)],
  ['NULs past the limit', Buffer.alloc(LIMIT + 1)],
  ['a NUL at the end of the first line', Buffer.from(`# a\0\n${RULES}`)],
];

const TEXT: readonly (readonly [name: string, body: Uint8Array])[] = [
  ['UTF-16LE with a mark', Buffer.from(`\uFEFF${RULES}`, 'utf16le')],
  ['UTF-16BE with a mark', Buffer.from(`\uFEFF${RULES}`, 'utf16le').swap16()],
  ['a NUL after an LF', Buffer.from(`${RULES}\0`)],
  ['bytes that begin like magic numbers', Buffer.from(`PK\u0003: %PDF-\n${RULES}`)],
  ['other control characters', Buffer.from(`\u0001\u001f\u007f\n${RULES}`)],
];

describe.each(TRANSPORTS)('a 2xx over %s', (_name, make) => {
  const { site, fetch } = context(make());

  it.each(NOT_TEXT)('that cannot be text is unreachable: %s', async (_what, body) => {
    const { origin, requests } = await site({ '/robots.txt': { body } });
    expect(await fetch(origin)).toMatchObject({
      kind: 'unreachable',
      status: 200,
      error: 'ERR_ROBOTS_NOT_TEXT',
    });
    expect(requests).toHaveLength(1);
  });

  it.each(TEXT)('that can be text is read: %s', async (_what, body) => {
    const { origin } = await site({ '/robots.txt': { body } });
    const outcome = await fetch(origin);
    expect(outcome.kind === 'success' && Buffer.from(outcome.body).equals(body)).toBe(true);
  });

  it('is looked at for a success alone', async () => {
    const { origin } = await site({ '/robots.txt': { status: 404, body: Buffer.alloc(100) } });
    expect(await fetch(origin)).toMatchObject({ kind: 'unavailable', status: 404 });
  });
});
