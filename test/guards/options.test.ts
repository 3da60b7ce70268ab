import { describe, expect, it } from 'vitest';
import { gotHooks } from '../../src/guards/got/got.ts';
import { readGuardOptions } from '../../src/guards/shared/options.ts';
import { guardFetch } from '../../src/index.ts';
import { scriptedClient } from './support.ts';

const INVALID = 'ERR_ROBOTS_INVALID_OPTIONS';

describe('the options of a guard', () => {
  it('pace on request, with a wait of at most five minutes by default', () => {
    expect(readGuardOptions({ pacing: false }).pace).toBeUndefined();
    const byDefault = readGuardOptions({ pacing: true }).pace;
    expect(byDefault).toMatchObject({ maxDelayMs: 300_000 });
    expect(readGuardOptions({ pacing: {} }).pace).toEqual(byDefault);
    expect(readGuardOptions({ pacing: { maxDelayMs: 1_000 } }).pace).toMatchObject({ maxDelayMs: 1_000 });
  });

  it.each<[unknown, RegExp]>([
    [{ agent: 5 }, /`agent` to be a string or a list of strings/],
    [{ agent: [] }, /agent/],
    [{ mode: 'dry' }, /`mode` to be/],
    [{ onDisallow: 'answer' }, /`onDisallow` to be 'throw', 'response' or a function/],
    [{ filter: 'x' }, /`filter` to be a function/],
    [{ onRefusal: 1 }, /`onRefusal` to be a function/],
    [{ clock: {} }, /`clock` to be an object whose `now\(\)` returns epoch milliseconds/],
    [{ pacing: 1 }, /`pacing`/],
    [{ pacing: { maxDelay: 1 } }, /`pacing.maxDelay`/],
    [{ addressPolicy: 'private' }, /`addressPolicy` to be/],
    [{ addressPolicy: 'public-only', lookup: 1 }, /`lookup` to be a function like dns.lookup/],
    [{ lookup: () => undefined }, /`lookup` together with an `addressPolicy`.*got `lookup` alone/],
    [
      { agnt: 'x', toString: 1 },
      /^Expected only known options, got `agnt`, `toString`; did you mean `agent`\?$/,
    ],
    [null, /^Expected the options to be an object, got null$/],
  ])('are checked: %j', (given, message) => {
    const guard = (): unknown => Reflect.apply(guardFetch, undefined, [fetch, scriptedClient(), given]);
    expect(guard).toThrow(message);
    expect(guard).toThrow(expect.objectContaining({ code: INVALID }));
  });
});

it('a signal of a request that is none rejects with what was expected', async () => {
  const guarded = guardFetch(fetch, scriptedClient());
  const request: Promise<unknown> = Reflect.apply(guarded, undefined, ['https://a.example/', { signal: {} }]);
  await expect(request).rejects.toMatchObject({
    code: INVALID,
    message: expect.stringMatching(/^Expected `signal` to be an AbortSignal, got/),
  });
});

describe('a guard that can only throw', () => {
  it.each([
    [
      { onDisallow: 'throw' },
      'Expected only known options, got `onDisallow`: only guardFetch can respond in place of a site',
    ],
    [
      { addressPolicy: undefined },
      'Expected only known options, got `addressPolicy`: only guardFetch knows where its requests are sent',
    ],
    [{ lookup: null }, 'Expected only known options, got `lookup`: only guardFetch looks up names'],
  ])('does not take %j', (options, message) => {
    expect(() => Reflect.apply(gotHooks, undefined, [scriptedClient(), options])).toThrow(
      expect.objectContaining({ code: INVALID, message }),
    );
  });
});
