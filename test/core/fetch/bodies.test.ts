import { describe, expect, it } from 'vitest';
import { bodyOf, context, LIMIT, lines, occurrence, RULES, TRANSPORTS } from './context.ts';

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

  it('keeps the last line of a file that ends exactly at the limit', async () => {
    const file = lines(LIMIT);
    const { body, truncated } = await read(file);
    expect(body === file).toBe(true);
    expect(truncated).toBe(false);
  });

  it('drops the line that the limit cuts', async () => {
    const file = lines(LIMIT);
    const { body, truncated } = await read(`${file}z`);
    expect(truncated).toBe(true);
    expect(body === file.slice(0, file.lastIndexOf('\n') + 1)).toBe(true);
  });

  it.each(['\n', '\r', '\r\nmore'])('keeps a line whose terminator %j is the next byte', async (end) => {
    const file = lines(LIMIT);
    const { body, truncated } = await read(`${file}${end}`);
    expect(truncated).toBe(true);
    expect(body === file).toBe(true);
  });

  it('keeps nothing of a single line longer than the limit, and cuts after a CR too', async () => {
    expect(await read('a'.repeat(LIMIT + 50_000))).toEqual({ body: '', truncated: true, bytes: 0 });
    expect((await read(`Allow: /\r${'a'.repeat(LIMIT)}`)).body).toBe('Allow: /\r');
  });

  it('can be raised', async () => {
    const file = `${lines(600_000)}\n`;
    const { origin } = await site({ '/robots.txt': { body: file } });
    const outcome = await fetch(origin, { maxBodyBytes: 700_000 });
    expect(outcome).toMatchObject({ kind: 'success', truncated: false });
    expect(bodyOf(outcome) === file).toBe(true);
  });

  it('ignores what follows the limit, and releases the socket', async () => {
    const closed = occurrence();
    const { origin } = await rawSite((socket) => {
      socket.once('close', () => closed.happens());
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${lines(LIMIT)}\nmore`);
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'success', truncated: true });
    await closed.happened;
  });

  it('is a success when the body breaks at the limit, without the line that may be cut', async () => {
    const whole = `${lines(LIMIT - 1)}\n`;
    const broken = await rawSite((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n');
      socket.end(broken.requests.length === 1 ? whole : lines(LIMIT));
    });
    const first = await fetch(broken.origin);
    expect(first).toMatchObject({ kind: 'success', truncated: true });
    expect(bodyOf(first) === whole).toBe(true);
    const second = await fetch(broken.origin);
    expect(second).toMatchObject({ kind: 'success', truncated: true });
    expect(bodyOf(second).endsWith('\n')).toBe(true);
  });

  it('is a success when the body breaks just after the limit', async () => {
    const { origin } = await rawSite((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n');
      socket.end(`${lines(LIMIT)}\nmore`);
    });
    expect(await fetch(origin)).toMatchObject({ kind: 'success', truncated: true });
  });
});
