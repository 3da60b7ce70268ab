import { describe, expect, it } from 'vitest';
import { canFetch, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { DAY, HOUR, MINUTE } from '../../support/client.ts';
import { eventually } from '../../support/eventually.ts';
import { Recording, replayed } from '../../support/evidence.ts';
import { answer, type Handler, type Site } from '../../support/site.ts';
import { Moment } from '../../support/moment.ts';
import { answering, openedSite as site, openedClient as client } from '../../support/opened.ts';

const RULES = 'User-agent: *\nDisallow: /private\n';

/** A site that answers when it is told to. */
async function heldSite(): Promise<{
  server: Site;
  release(body?: string): void;
  arrived(count: number): Promise<void>;
}> {
  const held: Parameters<Handler>[1][] = [];
  const server = await site((_, response) => void held.push(response));
  return {
    server,
    release: (body = RULES) => held.splice(0).forEach((response) => answer(response, { body })),
    arrived: (count) => eventually(() => expect(server.requests).toHaveLength(count)),
  };
}

describe('questions about one cold origin', () => {
  it('200 at once make one request', async () => {
    const { robots, server } = await answering({ body: RULES });
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        robots.canFetch(server.url(index % 2 === 0 ? '/private' : '/')),
      ),
    );
    expect(answers.filter((allowed) => allowed)).toHaveLength(100);
    expect(server.requests).toHaveLength(1);
  });

  it('one caller’s abort rejects that caller alone, with its own reason', async () => {
    const { robots } = client();
    const { server, release, arrived } = await heldSite();
    const leaving = new AbortController();
    const reason = new Error('tired of waiting');
    const first = robots.canFetch(server.url('/'), undefined, { signal: leaving.signal });
    const others = Array.from({ length: 199 }, () =>
      robots.canFetch(server.url('/'), undefined, { signal: new AbortController().signal }),
    );
    await arrived(1);
    leaving.abort(reason);
    await expect(first).rejects.toBe(reason);
    release();
    expect(await Promise.all(others)).toEqual(Array(199).fill(true));
    expect(server.requests).toHaveLength(1);
  });

  it('when all callers have aborted the attempt stops and nothing is cached', async () => {
    const { robots } = client();
    const { server, release, arrived } = await heldSite();
    const leaving = new AbortController();
    const both = [1, 2].map(() => robots.check(server.url('/'), undefined, { signal: leaving.signal }));
    await arrived(1);
    leaving.abort();
    for (const each of both) await expect(each).rejects.toMatchObject({ name: 'AbortError' });
    expect(robots.peek(server.url('/'))).toBeUndefined();
    expect(robots.stats()).toMatchObject({ inFlight: 0, origins: 0 });
    const again = robots.canFetch(server.url('/'));
    await arrived(2);
    release();
    expect(await again).toBe(true);
  });

  it('a signal aborted beforehand rejects at once and sends no request', async () => {
    const { robots, server } = await answering({ body: RULES });
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(robots.canFetch(server.url('/'), undefined, { signal })).rejects.toThrow('too late');
    await expect(robots.check(server.url('/'), undefined, { signal })).rejects.toThrow('too late');
    await robots.canFetch(server.url('/'));
    await expect(robots.canFetch(server.url('/'), undefined, { signal })).rejects.toThrow('too late');
    expect(server.requests).toHaveLength(1);
  });

  it('an attempt still in the queue when its last caller leaves is never sent', async () => {
    const { robots } = client({ concurrency: 1 });
    const { server, release, arrived } = await heldSite();
    const queued = await site({ '/robots.txt': { body: RULES } });
    const first = robots.canFetch(server.url('/'));
    await arrived(1);
    const leaving = new AbortController();
    const second = robots.canFetch(queued.url('/'), undefined, { signal: leaving.signal });
    leaving.abort();
    await expect(second).rejects.toMatchObject({ name: 'AbortError' });
    release();
    await first;
    await robots.canFetch(queued.url('/'));
    expect(queued.requests).toHaveLength(1);
  });
});

describe('lifetime', () => {
  it('a question in its last tenth is answered at once and starts one refresh', async () => {
    const { robots, clock } = client();
    const held: (() => void)[] = [];
    const server = await site((_, response) => {
      if (server.requests.length === 1) answer(response, { body: RULES });
      else held.push(() => answer(response, { body: 'User-agent: *\nDisallow: /' }));
    });
    await robots.canFetch(server.url('/'));
    clock.advance(0.9 * DAY);
    expect(robots.peek(server.url('/'))?.allowed).toBe(true);
    expect(robots.stats().inFlight).toBe(0);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    expect(await robots.canFetch(server.url('/'))).toBe(true);
    await eventually(() => expect(held).toHaveLength(1));
    held[0]?.();
    await eventually(() => expect(robots.peek(server.url('/'))?.allowed).toBe(false));
    expect(server.requests).toHaveLength(2);
  });

  it('a failed refresh leaves fresh rules in force until they are stale, and is not repeated per question', async () => {
    const { robots, clock, server } = await answering([
      { body: RULES },
      { status: 503, headers: { 'retry-after': '7200' } },
    ]);
    await robots.canFetch(server.url('/'));
    clock.advance(23 * HOUR);
    expect(await robots.check(server.url('/'))).toMatchObject({ state: 'rules' });
    await eventually(() => expect(robots.stats()).toMatchObject({ attempts: 2, inFlight: 0 }));
    expect(await robots.check(server.url('/'))).toMatchObject({ state: 'rules' });
    clock.advance(HOUR);
    expect(await robots.check(server.url('/private'))).toMatchObject({ state: 'last-good', allowed: false });
    expect(server.requests).toHaveLength(2);
  });
});

describe('prefetch', () => {
  it('requests each origin once, and reports progress and invalid URLs', async () => {
    const { robots } = client();
    const good = await site({ '/robots.txt': { body: RULES } });
    const bad = await site({ '/robots.txt': { status: 503 } });
    const seen: string[] = [];
    const result = await robots.prefetch(
      [good.url('/a'), 'nonsense', good.url('/b'), bad.url('/'), 'mailto:a@b.c'],
      { onProgress: ({ done, total, origin }) => seen.push(`${done}/${total} ${origin}`) },
    );
    expect(result).toMatchObject({ origins: 2, states: { rules: 1, 'disallow-all': 1 } });
    expect(result.invalid.map((error) => error.input)).toEqual(['nonsense', 'mailto:a@b.c']);
    expect(seen.at(-1)).toMatch(/^2\/2 /);
    expect(robots.peek(good.url('/private'))?.allowed).toBe(false);
    expect(good.requests).toHaveLength(1);
  });

  it('stops when its signal aborts', async () => {
    const { robots } = client();
    const { server, arrived } = await heldSite();
    const leaving = new AbortController();
    const warming = robots.prefetch([server.url('/')], { signal: leaving.signal });
    await arrived(1);
    leaving.abort(new Error('enough'));
    await expect(warming).rejects.toThrow('enough');
    await expect(robots.prefetch([], { signal: leaving.signal })).rejects.toThrow('enough');
  });
});

describe('prefetch, interrupted', () => {
  it('rejects at once when its listener throws, while the source still waits', async () => {
    const { robots, server } = await answering({ body: RULES });
    async function* endless(): AsyncGenerator<string> {
      yield server.url('/');
      await new Promise(() => undefined);
    }
    const onProgress = (): void => {
      throw new Error('boom');
    };
    await expect(robots.prefetch(endless(), { onProgress })).rejects.toThrow('boom');
  });

  it('adds one abort listener for any number of waiting origins', async () => {
    const { robots } = client();
    const { server } = await heldSite();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => void warnings.push(warning);
    process.on('warning', onWarning);
    const leaving = new AbortController();
    const asked = Array.from({ length: 40 }, () =>
      robots.canFetch(server.url('/'), undefined, { signal: leaving.signal }),
    );
    leaving.abort(new Error('all'));
    for (const each of await Promise.allSettled(asked))
      expect(each).toMatchObject({ reason: { message: 'all' } });
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings.map(({ message }) => message)).toEqual([]);
  });

  it('refuses a string in place of a list of URLs', async () => {
    const { robots } = client();
    await expect(robots.prefetch('https://example.com/')).rejects.toThrow(/`urls` to be a list of URLs/);
  });

  it.each([
    [{ concurency: 4 }, 'Expected only known options, got `concurency`'],
    [{ onProgress: true }, 'Expected `onProgress` to be a function, got "true" (boolean)'],
    [null, 'Expected the options to be an object, got null'],
  ])('refuses the options %j, and sends no request', async (options, message) => {
    const { robots, server } = await answering({ body: RULES });
    const warming = Reflect.apply(robots.prefetch, robots, [[server.url('/')], options]);
    await expect(warming).rejects.toMatchObject({ code: 'ERR_ROBOTS_INVALID_OPTIONS', message });
    expect(server.requests).toEqual([]);
  });
});

describe('a 304 after whose request memory received another file', () => {
  /** A site that has changed its file, and of which a redirect tells while its 304 for the old file is on its way. */
  async function crossed(options: RobotsClientOptions = {}) {
    const confirmed = new Moment();
    const asked: (string | null)[] = [];
    let body = 'User-agent: *\nDisallow: /old\n';
    let etag = '"old"';
    const fetch = async (url: string, { headers }: RequestInit): Promise<Response> => {
      if (!url.startsWith('https://site.example/'))
        return new Response(null, { status: 301, headers: { location: 'https://site.example/robots.txt' } });
      const condition = new Headers(headers).get('if-none-match');
      asked.push(condition);
      if (condition !== null && asked.length === 2) {
        await confirmed.come;
        return new Response(null, { status: 304, headers: { etag: '"old"' } });
      }
      return condition === etag
        ? new Response(null, { status: 304 })
        : new Response(body, { headers: { etag } });
    };
    const { robots, clock } = client({ ...options, transport: { fetch } });
    await robots.check('https://site.example/');
    clock.advance(DAY);
    const renewed = robots.check('https://site.example/old');
    await eventually(() => expect(asked).toHaveLength(2));
    [body, etag] = ['User-agent: *\nDisallow: /new\n', '"new"'];
    await robots.check('https://moved.example/');
    expect(robots.peek('https://site.example/new')).toMatchObject({ allowed: false });
    clock.advance(MINUTE);
    return { robots, clock, asked, renewed, confirm: confirmed.now };
  }

  it('renews the file that its request named', async () => {
    const recording = new Recording();
    const { robots, clock, asked, renewed, confirm } = await crossed({ evidence: recording.listener });
    confirm();
    expect(await renewed).toMatchObject({ allowed: false, rule: { pattern: '/old' } });
    expect(await replayed(recording.lines())).toMatchObject({ differences: [] });
    clock.advance(DAY);
    expect(await robots.canFetch('https://site.example/new')).toBe(false);
    expect(asked.at(-1)).toBe('"old"');
    clock.advance(DAY);
    expect(await robots.canFetch('https://site.example/new')).toBe(false);
    expect(asked.at(-1)).toBe('"new"');
  });

  it('keeps what was reported meanwhile', async () => {
    const recording = new Recording();
    const { robots, renewed, confirm } = await crossed({ evidence: recording.listener });
    robots.report('https://site.example/', { reachable: true });
    confirm();
    expect(await renewed).toMatchObject({ rule: { pattern: '/old' } });
    expect(await replayed(recording.lines())).toMatchObject({ differences: [] });
    expect(await robots.policy('https://site.example/')).toMatchObject({ site: { reachable: true } });
  });
});

describe('invalidate during an attempt', () => {
  it('makes the next question start another; the old result goes only to its waiting callers', async () => {
    const { robots } = client();
    const { server, release, arrived } = await heldSite();
    const before = robots.canFetch(server.url('/'));
    await arrived(1);
    await robots.invalidate(server.url('/'));
    const after = robots.canFetch(server.url('/private'));
    await arrived(2);
    release();
    expect(await before).toBe(true);
    expect(await after).toBe(false);
    expect(robots.stats()).toMatchObject({ attempts: 2, inFlight: 0, origins: 1 });
  });
});

describe('close', () => {
  it('rejects waiting callers and later questions, and can be called twice', async () => {
    const { robots } = client();
    const { server, arrived } = await heldSite();
    const waiting = robots.canFetch(server.url('/'));
    await arrived(1);
    const closing = robots.close();
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    await closing;
    await robots.close();
    for (const ask of [
      () => robots.canFetch(server.url('/')),
      () => robots.check(server.url('/')),
      () => robots.policy(server.url('/')),
      () => robots.prefetch([server.url('/')]),
      () => robots.invalidate(server.url('/')),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
    }
    expect(() => robots.peek(server.url('/'))).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_CLOSED' }),
    );
  });
});

describe('peek', () => {
  it('is synchronous, without I/O or promises', async () => {
    const { robots, server } = await answering({ body: RULES });
    expect(robots.peek(server.url('/'))).toBeUndefined();
    await robots.canFetch(server.url('/'));
    const { createHook } = await import('node:async_hooks');
    let promises = 0;
    const hook = createHook({ init: (_id, type) => void (type === 'PROMISE' && promises++) }).enable();
    for (let count = 0; count < 1000; count++) robots.peek(server.url('/private'));
    hook.disable();
    expect(promises).toBe(0);
    expect(server.requests).toHaveLength(1);
  });
});

describe('the shared canFetch', () => {
  it('uses one client for all callers', async () => {
    const server = await site({ '/robots.txt': { body: RULES } });
    expect(await canFetch(server.url('/private'), 'ExampleBot')).toBe(false);
    expect(await canFetch(server.url('/'), 'OtherBot')).toBe(true);
    expect(server.requests).toHaveLength(1);
  });

  it('await using closes a client of one’s own', async () => {
    let kept: RobotsClient;
    {
      await using robots = new RobotsClient();
      kept = robots;
    }
    await expect(kept.canFetch('https://example.com/')).rejects.toMatchObject({ code: 'ERR_ROBOTS_CLOSED' });
  });
});
