import { describe, expect, it } from 'vitest';
import { LightAbortController } from '../../../src/core/base/index.ts';
import { type FetchedResponse, fetchTransport } from '../../../src/core/fetch/fetch-transport.ts';
import { text } from './context.ts';

const URL_OF_ROBOTS = new URL('http://example.com/robots.txt');

interface Scripted {
  readonly status?: number;
  readonly type?: string;
  readonly fields?: Readonly<Record<string, string>>;
  /** The body: its chunks, or none at all. */
  readonly chunks?: readonly Uint8Array[] | null;
}

/** A response that counts how often its body is cancelled. */
function scripted({ status = 200, type = 'basic', fields = {}, chunks = [] }: Scripted) {
  let cancelled = 0;
  const cancel = async (): Promise<void> => void cancelled++;
  const left = [...(chunks ?? [])];
  const read = async () =>
    left.length === 0 ? { done: true, value: undefined } : { done: false, value: left.shift() };
  const response: FetchedResponse = {
    status,
    type,
    headers: { get: (name) => fields[name] ?? null },
    body: chunks === null ? null : { cancel, getReader: () => ({ read, cancel }) },
  };
  return { response, cancelled: () => cancelled };
}

const request = (fetch: () => Promise<FetchedResponse>, url = URL_OF_ROBOTS) =>
  fetchTransport(fetch).request(url, { headers: {}, signal: new LightAbortController(), publicOnly: false });

async function bodyOf(response: FetchedResponse): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const chunk of (await request(async () => response)).body) {
    expect(chunk.byteLength).toBeGreaterThan(0);
    parts.push(chunk);
  }
  return text(Buffer.concat(parts));
}

const bytes = (value: string): Uint8Array => new TextEncoder().encode(value);

describe('a redirect that the fetch hides', () => {
  it.each([
    { type: 'opaqueredirect', status: 302 },
    { type: 'basic', status: 0 },
  ])('is an error, and its body is cancelled: %j', async (answer) => {
    const { response, cancelled } = scripted(answer);
    await expect(request(async () => response)).rejects.toMatchObject({ code: 'ERR_ROBOTS_REDIRECT_OPAQUE' });
    expect(cancelled()).toBe(1);
  });
});

describe('the body of a fetch', () => {
  it('is read without empty chunks, and not cancelled', async () => {
    const { response, cancelled } = scripted({ chunks: [bytes(''), bytes('Al'), bytes(''), bytes('low')] });
    expect(await bodyOf(response)).toBe('Allow');
    expect(cancelled()).toBe(0);
  });

  it('is empty where it is null, whatever the fields', async () => {
    const { response } = scripted({ status: 204, chunks: null, fields: { 'content-encoding': 'gzip, foo' } });
    expect(await bodyOf(response)).toBe('');
  });

  it('is cancelled where reading ends early', async () => {
    const { response, cancelled } = scripted({ chunks: [bytes('a'), bytes('b')] });
    for await (const chunk of (await request(async () => response)).body) {
      expect(text(chunk)).toBe('a');
      break;
    }
    expect(cancelled()).toBe(1);
  });

  it('is cancelled by `discard`', async () => {
    const { response, cancelled } = scripted({ chunks: [bytes('a')] });
    (await request(async () => response)).discard();
    expect(cancelled()).toBe(1);
    expect((await request(async () => scripted({ chunks: null }).response)).discard()).toBeUndefined();
  });

  it.each(['7\r\nUser-ag\r\n0\r\n\r\n', 'A;x=y\r\n', '00000010\r\nx'])(
    'is refused where it begins as a chunk: %j',
    async (body) => {
      const read = bodyOf(scripted({ chunks: [bytes(body)] }).response);
      await expect(read).rejects.toMatchObject({ code: 'ERR_ROBOTS_TRANSFER_CODING' });
    },
  );

  it.each(['7\n', 'add\n', '#\r\n7\r\n', 'Allow: /\r\n', 'g\r\n', '123456789\r\n'])(
    'is read where it begins otherwise: %j',
    async (body) => {
      expect(await bodyOf(scripted({ chunks: [bytes(body)] }).response)).toBe(body);
    },
  );
});

describe('a connection that ends before the response', () => {
  const stale = (): Error => Object.assign(new Error('closed'), { code: 'UND_ERR_SOCKET' });

  /** A transport over a fetch that answers in turns, the last one again and again. Counts its calls. */
  function transportThat(...turns: (() => Promise<FetchedResponse>)[]) {
    let calls = 0;
    const transport = fetchTransport(() => turns[Math.min(calls++, turns.length - 1)]!());
    return {
      send: (host = 'example.com', signal = new LightAbortController()) =>
        transport.request(new URL(`http://${host}/robots.txt`), { headers: {}, signal, publicOnly: false }),
      calls: () => calls,
    };
  }

  it('is not repeated for an aborted request, or for another failure', async () => {
    const aborted = new LightAbortController();
    const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    const { send, calls } = transportThat(
      async () => {
        aborted.abort();
        throw stale();
      },
      async () => {
        throw refused;
      },
    );
    await expect(send('example.com', aborted)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    await expect(send()).rejects.toBe(refused);
    expect(calls()).toBe(2);
  });
});
