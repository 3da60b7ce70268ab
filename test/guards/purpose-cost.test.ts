import { describe, expect, it, vi } from 'vitest';
import { engineOf } from '../../src/core/client/client-engine.ts';
import { guardFetch, RobotsClient } from '../../src/index.ts';
import { afterEachTest } from '../support/after-each-test.ts';

const open: (() => Promise<void>)[] = [];
afterEachTest(async () => {
  for (const close of open.splice(0)) await close();
});

const TEXT = 'User-agent: *\nAllow: /\nContent-Usage: train-ai=n\n';
function client(): RobotsClient {
  const made = new RobotsClient({
    agent: 'ExampleBot/1.0',
    transport: { fetch: async () => new Response(TEXT) },
  });
  open.push(() => made.close());
  return made;
}

/** A response that counts what is read of its header fields. */
function watched(): { readonly read: string[]; readonly fetch: typeof fetch } {
  const read: string[] = [];
  const send = async (): Promise<Response> => {
    const response = new Response('a page', { headers: { 'content-usage': 'train-ai=n' } });
    const { headers } = response;
    const get = headers.get.bind(headers);
    Object.defineProperty(headers, 'get', {
      value: (name: string) => {
        read.push(name);
        return get(name);
      },
    });
    return response;
  };
  return { read, fetch: send };
}

describe('a guard without a purpose', () => {
  it('asks for no statement, reads no field for it, and makes the same decisions', async () => {
    const robots = client();
    const usageOf = vi.spyOn(engineOf(robots), 'usageOf');
    const { read, fetch } = watched();
    const guarded = guardFetch(fetch, robots);
    for (const _ of ['cold', 'warm']) expect((await guarded('https://a.example/page')).status).toBe(200);
    expect(usageOf).not.toHaveBeenCalled();
    expect(read.filter((name) => name.startsWith('content-'))).toEqual([]);
    expect(await robots.check('https://a.example/page')).not.toHaveProperty('usage');
    expect(robots.peek('https://a.example/page')).not.toHaveProperty('usage');
  });

  it('one with a purpose does, which the count shows', async () => {
    const robots = client();
    const usageOf = vi.spyOn(engineOf(robots), 'usageOf');
    const { read, fetch } = watched();
    const guarded = guardFetch(fetch, robots, { purpose: 'search' });
    await guarded('https://a.example/page');
    expect(usageOf).toHaveBeenCalledTimes(2);
    expect(read).toContain('content-usage');
  });
});
