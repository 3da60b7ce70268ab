import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/core/base/index.ts';
import { assertThrowing, type GuardOptions, readGuardOptions } from '../../src/guards/shared/options.ts';

const read = (given: unknown): unknown => Reflect.apply(readGuardOptions, undefined, [given]);

describe('the options of a guard', () => {
  it('enforce, throw and pace nothing by default', () => {
    expect(readGuardOptions({})).toEqual({
      enforces: true,
      onDisallow: 'throw',
      clock: systemClock,
      pace: undefined,
      addressPolicy: 'any',
      refusesUnknown: false,
    });
  });

  it('are taken as they are given', () => {
    const given = {
      agent: ['ExampleBot-News', 'ExampleBot'],
      mode: 'report',
      onDisallow: () => new Response(),
      filter: () => true,
      onRefusal: () => undefined,
      onIgnored: () => undefined,
      clock: { now: () => 0 },
      addressPolicy: 'public-only',
      identify: false,
      onIdentity: () => undefined,
      onPaymentRequired: () => undefined,
      purpose: 'train-ai',
      onUnknownPurpose: 'refuse',
      timeoutMs: 5_000,
      lookup: () => undefined,
    } satisfies GuardOptions;
    expect(readGuardOptions(given)).toEqual({
      ...given,
      enforces: false,
      pace: undefined,
      refusesUnknown: true,
    });
    expect(readGuardOptions({ mode: 'enforce', onDisallow: 'response', agent: 'ExampleBot' })).toMatchObject({
      enforces: true,
      onDisallow: 'response',
      agent: 'ExampleBot',
    });
    expect(readGuardOptions({ onDisallow: 'throw' }).onDisallow).toBe('throw');
  });

  it('pace on request, with a wait of at most five minutes by default', () => {
    expect(readGuardOptions({ pacing: false }).pace).toBeUndefined();
    const byDefault = readGuardOptions({ pacing: true }).pace;
    expect(byDefault).toMatchObject({ maxDelayMs: 300_000 });
    expect(readGuardOptions({ pacing: {} }).pace).toEqual(byDefault);
    expect(readGuardOptions({ pacing: { maxDelayMs: 1_000 } }).pace).toMatchObject({ maxDelayMs: 1_000 });
  });

  it.each<[unknown, RegExp]>([
    [{ agent: 5 }, /`agent` to be a string or a list of strings/],
    [{ agent: {} }, /`agent` to be a string or a list of strings/],
    [{ agent: [] }, /agent/],
    [{ agent: 'https://example.com/' }, /agent/],
    [{ mode: 'dry' }, /`mode` to be/],
    [{ onDisallow: 'answer' }, /`onDisallow` to be 'throw', 'response' or a function/],
    [{ onDisallow: true }, /`onDisallow` to be 'throw', 'response' or a function/],
    [{ filter: 'x' }, /`filter` to be a function/],
    [{ onRefusal: 1 }, /`onRefusal` to be a function/],
    [{ onIgnored: 1 }, /`onIgnored` to be a function/],
    [{ clock: {} }, /`clock` to be an object whose `now\(\)` returns epoch milliseconds/],
    [{ pacing: 1 }, /`pacing`/],
    [{ pacing: { maxDelay: 1 } }, /`pacing.maxDelay`/],
    [{ addressPolicy: 'private' }, /`addressPolicy` to be/],
    [{ addressPolicy: 'public-only', lookup: 1 }, /`lookup` to be a function like dns.lookup/],
    [{ lookup: () => undefined }, /`lookup` together with an `addressPolicy`.*got `lookup` alone/],
    [{ lookup: () => undefined, addressPolicy: 'any' }, /`lookup` together with an `addressPolicy`/],
    [{ onDisalow: 'throw' }, /`onDisalow`; did you mean `onDisallow`/],
    [null, /options to be an object/],
  ])('are checked: %j', (given, message) => {
    expect(() => read(given)).toThrow(message);
    expect(() => read(given)).toThrow(expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }));
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
    expect(() => Reflect.apply(assertThrowing, undefined, [options])).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS', message }),
    );
  });

  it('accepts the others, and leaves other values to the check of options', () => {
    expect(assertThrowing({ mode: 'report', agent: 'ExampleBot' })).toBeUndefined();
    expect(Reflect.apply(assertThrowing, undefined, [null])).toBeUndefined();
    expect(Reflect.apply(assertThrowing, undefined, [Object.create({ lookup: 1 })])).toBeUndefined();
  });
});
