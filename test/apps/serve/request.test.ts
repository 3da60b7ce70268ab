import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readJson } from '../../../src/apps/serve/request.ts';

/** A request whose body is written by hand. */
function requestWith(headers: Readonly<Record<string, string>> = {}) {
  const body = new PassThrough();
  return { body, request: Object.assign(body, { headers }) as unknown as IncomingMessage };
}

function read(text: string, maxBytes: number, headers?: Readonly<Record<string, string>>): Promise<unknown> {
  const { body, request } = requestWith(headers);
  body.end(text);
  return readJson(request, maxBytes);
}

describe('the JSON body of a request', () => {
  afterEach(() => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  });

  it('may have as many bytes as the limit', async () => {
    expect(await read('{"ä":1}', 8)).toEqual({ ä: 1 });
  });

  it.each([
    ['has one more', { 'content-encoding': 'identity' }],
    ['says so', { 'content-length': '9' }],
  ])('is refused with 413 where it %s, and the connection ends', async (_, headers) => {
    await expect(read('{"ä": 1}', 8, headers)).rejects.toMatchObject({
      status: 413,
      code: 'ERR_ROBOTS_TOO_LARGE',
      message: 'Expected a body of at most 8 bytes, got more',
      headers: { connection: 'close' },
    });
  });

  it('is not read any further once it is too long', async () => {
    const { body, request } = requestWith();
    body.write('123456789');
    await expect(readJson(request, 8)).rejects.toMatchObject({ status: 413 });
    expect(body.isPaused()).toBe(true);
    expect(body.listenerCount('data')).toBe(0);
  });

  it('is refused with 415 in a content coding', async () => {
    await expect(read('{}', 8, { 'content-encoding': 'gzip' })).rejects.toMatchObject({
      status: 415,
      code: 'ERR_ROBOTS_INVALID_REQUEST',
    });
  });

  it('is refused with 400 where it is not JSON', async () => {
    await expect(read('{', 8)).rejects.toMatchObject({ status: 400, cause: expect.any(SyntaxError) });
  });

  it('is refused with 408 after 30 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { body, request } = requestWith();
    body.write('{');
    const reading = readJson(request, 8).catch((error: unknown) => error);
    let ended = false;
    void reading.then(() => (ended = true));
    await vi.advanceTimersByTimeAsync(29_999);
    expect(ended).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await reading).toMatchObject({
      status: 408,
      code: 'ERR_ROBOTS_REQUEST_TIMEOUT',
      headers: { connection: 'close' },
    });
  });

  it('leaves no timer, however it ends', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await read('{}', 8);
    await expect(read('123456789', 8)).rejects.toThrow('bytes');
    await expect(read('', 8, { 'content-length': '9' })).rejects.toThrow('bytes');
    const { body, request } = requestWith();
    const reading = readJson(request, 8);
    body.destroy(new Error('the connection broke'));
    await expect(reading).rejects.toThrow('the connection broke');
    expect(vi.getTimerCount()).toBe(0);
  });
});
