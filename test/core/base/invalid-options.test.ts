import { describe, expect, it } from 'vitest';
import { assertKnownOptions, closestChoice, isWithinEditDistance } from '../../../src/core/base/index.ts';
import { guardFetch, RobotsClient } from '../../../src/index.ts';
import fc from '../../support/fast-check.ts';
import { openedClient } from '../../support/opened.ts';

/** Letters few enough that slips meet. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 5 });

/** Every word that one slip makes of `from`. */
function slipsOf(from: string): Set<string> {
  const made = new Set<string>();
  for (let at = 0; at <= from.length; at++) {
    const [before, after] = [from.slice(0, at), from.slice(at)];
    for (const letter of 'abc') {
      made.add(before + letter + after);
      if (after !== '') made.add(before + letter + after.slice(1));
    }
    if (after !== '') made.add(before + after.slice(1));
    if (after.length > 1) made.add(`${before}${after[1]}${after[0]}${after.slice(2)}`);
  }
  return made;
}

describe('the choice that was probably meant', () => {
  const purposes = ['train-ai', 'ai-use', 'ai-input', 'search'];

  it.each([
    // Cloudflare's spelling.
    ['ai-train', 'train-ai'],
    ['serch', 'search'],
    ['ai-usee', 'ai-use'],
    ['fun', undefined],
    [1, undefined],
  ])('for %j is %j', (got, meant) => {
    expect(closestChoice(got, purposes)).toBe(meant);
  });
});

it('words within one edit are exactly those that one slip makes', () => {
  fc.assert(
    fc.property(word, word, (one, other) => {
      expect(isWithinEditDistance(one, other, 1)).toBe(one === other || slipsOf(other).has(one));
    }),
  );
});

it('proposes the closest of several known options', () => {
  const known = ['defaultDelayMs', 'minDelayMs', 'maxDelayMs'];
  expect(() => assertKnownOptions({ maxDelayMS: 1 }, known, 'pacing.')).toThrow(
    'Expected only known options, got `pacing.maxDelayMS`; did you mean `pacing.maxDelayMs`?',
  );
});

describe('words of other libraries', () => {
  const CLIENT =
    '`evidence: console.log` shows attempts and decisions, and channels of node:diagnostics_channel have all events';

  it.each([
    ['userAgent', 'did you mean `agent`?'],
    ['timeout', 'did you mean `deadlineMs`?'],
    ['fetch', 'did you mean `transport: { fetch }`?'],
    ['ttl', 'did you mean `profile`, whose `lifetime` has the bounds?'],
    ['proxy', 'did you mean `dispatcher: new ProxyAgent(url)` of undici?'],
    ['headers', 'did you mean `headersForRobots`?'],
    ['retries', 'did you mean `profile`, whose `robotsRetry` has the pauses? For pages: `retryLater`'],
    ['delay', 'the delay of pages is set at a guard: `pacing: { defaultDelayMs }`'],
    ['delayMs', 'the delay of pages is set at a guard: `pacing: { defaultDelayMs }`'],
    ['logger', CLIENT],
    ['concurency', 'did you mean `concurrency`?'],
  ])('a client is told what `%s` is: %s', (name, proposal) => {
    expect(() => new RobotsClient(JSON.parse(`{"${name}":1}`))).toThrow(
      `Expected only known options, got \`${name}\`; ${proposal}`,
    );
  });

  it.each([
    ['userAgent', 'did you mean `agent`?'],
    ['timeout', 'did you mean `timeoutMs`?'],
    ['proxy', 'a proxy is set where the pages are sent, and as `dispatcher` of the client'],
    ['headers', 'header fields are set where the pages are sent'],
    ['retries', '`retryLater(task)` tries pages again'],
    ['delay', 'did you mean `pacing: { defaultDelayMs }`?'],
    ['delayMs', 'did you mean `pacing: { defaultDelayMs }`?'],
    ['logger', 'did you mean `onRefusal`? Channels of node:diagnostics_channel have all events'],
    ['onRefused', 'did you mean `onRefusal`?'],
  ])('a guard is told what `%s` is: %s', (name, proposal) => {
    expect(() => guardFetch(fetch, openedClient().robots, JSON.parse(`{"${name}":1}`))).toThrow(
      `Expected only known options, got \`${name}\`; ${proposal}`,
    );
  });

  it.each(['delay', 'delayMs'])('pacing is told what `%s` is', (name) => {
    const pacing = JSON.parse(`{"${name}":1}`);
    expect(() => guardFetch(fetch, openedClient().robots, { pacing })).toThrow(
      `got \`pacing.${name}\`; did you mean \`pacing.defaultDelayMs\`?`,
    );
  });
});

it.each([
  [['https://example.com/'], 'a list'],
  [{}, 'an object'],
  [7, '"7" (number)'],
  [undefined, 'undefined'],
])('what is no URL is named: %j is %s', async (value, what) => {
  await expect(openedClient().robots.check(value as string)).rejects.toMatchObject({
    code: 'ERR_ROBOTS_INVALID_URL',
    message: `Expected an absolute http, https or ftp URL, got ${what}`,
  });
});
