import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { GuardOptions } from '../../src/index.ts';
import { closing } from '../core/pacing/support.ts';

const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] }));
afterEach(() => {
  vi.useRealTimers();
  warned.mockClear();
});

/** Warnings of waits, and their codes. A body of an earlier file may still be unread. */
const ofWaits = (): [code: string, text: string][] =>
  warned.mock.calls
    .map(([message, details]): [string, string] => [
      String(Reflect.get(Object(details), 'code')),
      String(message),
    ])
    .filter(([code]) => /WAITING|NO_RESPONSE|PACE_UNUSED/.test(code));
const codes = (): string[] => ofWaits().map(([code]) => code);
const texts = (): string[] => ofWaits().map(([, text]) => text);

/** A guarded fetch by a copy of the package that has warned of nothing yet. `respond` answers for pages. */
async function fetching(
  options: GuardOptions<Response>,
  respond: (url: string) => Response | Promise<Response> = () => new Response('a page'),
  robotsTxt = 'User-agent: *\nDisallow:\n',
) {
  vi.resetModules();
  const { guardFetch, retryLater, RobotsClient } = await import('../../src/index.ts');
  const fetch = async (input: string | URL | Request): Promise<Response> => {
    const url = String(input instanceof Request ? input.url : input);
    return url.endsWith('/robots.txt') ? new Response(robotsTxt) : respond(url);
  };
  const robots = new RobotsClient({ agent: 'ExampleBot', transport: { fetch } });
  closing(robots);
  const guarded = guardFetch(fetch, robots, options);
  // What is loaded when it is needed is loaded in real time.
  await robots.reserve('https://other.example/');
  const get = async (page: number): Promise<number> => {
    const response = await guarded(`https://a.example/${page}`);
    await response.text();
    return response.status;
  };
  return { get, guarded, retryLater };
}

const ignore = (): void => undefined;
const never = new Promise<Response>(() => undefined);

it('a body that nobody reads for 2 s is named, once, and no request is said to have waited', async () => {
  const { guarded } = await fetching({ pacing: { defaultDelayMs: 0 } });
  await guarded('https://a.example/1');
  const ofBodies = () => warned.mock.calls.filter(([text]) => String(text).includes('https://a.example'));
  await vi.advanceTimersByTimeAsync(1_999);
  expect(ofBodies()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  await guarded('https://a.example/2');
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ofBodies()).toEqual([
    [
      'Expected the body of https://a.example/1 to be read or cancelled (`await response.body?.cancel()`), ' +
        'but it was neither for 2 s: its request held a permit of the site all that time',
      { type: 'RobotsWarning', code: 'CANFETCH_BODY_UNREAD' },
    ],
  ]);
});

it('a request without a response for 10 s is named, with `timeoutMs`, when others wait for its end', async () => {
  const { get } = await fetching({ pacing: { defaultDelayMs: 0 } }, (url) =>
    url.endsWith('/1') ? never : new Response(''),
  );
  get(1).catch(ignore);
  await vi.advanceTimersByTimeAsync(25_000);
  expect(codes()).toEqual([]);
  get(2).catch(ignore);
  get(3).catch(ignore);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(codes()).toEqual([]);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(codes()).toEqual(['CANFETCH_NO_RESPONSE']);
  expect(texts()[0]).toMatch(
    /For 10 s .* the request for https:\/\/a\.example\/1, and .*`timeoutMs: 30_000`/,
  );
  await vi.advanceTimersByTimeAsync(60_000);
  expect(codes()).toHaveLength(1);
});

it('is not, when others wait for the gap alone, its header has come, or its time is limited', async () => {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) });
  for (const [options, answer] of [
    [{ pacing: { defaultDelayMs: 200_000 } }, never],
    [{ pacing: { defaultDelayMs: 0 } }, new Response(body)],
    [{ pacing: { defaultDelayMs: 0 }, timeoutMs: 30_000 }, never],
  ] as const) {
    const { get } = await fetching(options, (url) => (url.endsWith('/1') ? answer : new Response('')));
    get(1).catch(ignore);
    get(2).catch(ignore);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(codes()).not.toContain('CANFETCH_NO_RESPONSE');
  }
});

it('a request that waits for 10 s while its site pauses is named, with the cause', async () => {
  const { get } = await fetching({ pacing: true }, () => new Response('', { status: 429 }));
  get(1).catch(ignore);
  await vi.advanceTimersByTimeAsync(1_000);
  get(2).catch(ignore);
  await vi.advanceTimersByTimeAsync(9_000);
  expect(codes()).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(codes()).toEqual(['CANFETCH_WAITING']);
  expect(texts()[0]).toMatch(
    /^Waits for https:\/\/a\.example until \d.*: it refused requests, and named no time: a guessed pause of (?:2|3)\d\.?\d* s\. .*crawlReport/,
  );
});

it('is not, when `retryLater` has said so, nor when it waits for its gap or for its turn', async () => {
  const busy = await fetching({ pacing: true }, () => new Response('', { status: 429 }));
  const onWait = vi.fn();
  const visit = (page: number): Promise<Response> =>
    busy.retryLater(() => busy.guarded(`https://a.example/${page}`), { onWait });
  visit(1).catch(ignore);
  visit(2).catch(ignore);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(onWait).toHaveBeenCalled();
  const slow = await fetching({ pacing: { defaultDelayMs: 60_000 } });
  for (const page of [1, 2, 3]) slow.get(page).catch(ignore);
  await vi.advanceTimersByTimeAsync(50_000);
  expect(codes()).not.toContain('CANFETCH_WAITING');
});

it('a Crawl-delay that a guard does not keep is named, unless something was said of `pacing`', async () => {
  const slow = 'User-agent: *\nCrawl-delay: 2.5\n';
  const { get } = await fetching({}, undefined, slow);
  await get(1);
  await get(2);
  expect(codes()).toEqual(['CANFETCH_PACE_UNUSED']);
  expect(texts()[0]).toMatch(
    /^https:\/\/a\.example asks for a Crawl-delay of 2\.5 s.*`pacing: true`.*`pacing: false`/,
  );
  warned.mockClear();
  for (const [options, robotsTxt] of [
    [{ pacing: false }, slow],
    [{ pacing: { defaultDelayMs: 0 } }, slow],
    [{}, 'User-agent: *\nCrawl-delay: 0\n'],
    [{}, 'User-agent: *\nDisallow: /private\n'],
  ] as const) {
    const { get } = await fetching(options, undefined, robotsTxt);
    const got = get(1);
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await got).toBe(200);
  }
  expect(codes()).toEqual([]);
});
