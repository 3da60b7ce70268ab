import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isRobotsError, RobotsClient } from '../src/index.ts';
import { openedClient } from './support/opened.ts';

/** What callers of JavaScript pass by mistake. */
const WRONG: readonly (readonly [name: string, value: unknown])[] = [
  ['undefined', undefined],
  ['null', null],
  ['true', true],
  ['a number', 7],
  ['NaN', NaN],
  ['an empty text', ''],
  ['a text', 'no/such/folder'],
  ['a symbol', Symbol('wrong')],
  ['a big number', 7n],
  ['an object', {}],
  ['an object without prototype', Object.create(null)],
  ['a list', []],
  ['a list of an object', [{}]],
  ['a function', (): undefined => undefined],
  ['a date', new Date(0)],
  ['a promise', Promise.resolve(7)],
  ['an object with a signal that is none', { signal: {} }],
];

/** For the command, which checks what it passes. */
const INTERNAL = 'openSqliteStore';

/** Of the entry point `rules` the errors are those of test/core/rules. */
const { typedocOptions } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  typedocOptions: { entryPoints: string[] };
};
const entries = typedocOptions.entryPoints.filter((path) => !path.includes('core/rules/'));

/** An error that the caller can do nothing with: it names neither what was expected nor what came. */
async function rawError(call: () => unknown): Promise<string | undefined> {
  try {
    const returned = call();
    // What iterates is asked for its first item.
    const next: unknown = Reflect.get(Object(returned), 'next');
    if (typeof next === 'function') await Reflect.apply(next, returned, []);
    else await returned;
    return undefined;
  } catch (error) {
    return isRobotsError(error) ? undefined : String(error);
  }
}

/** The argument lists with a wrong value at one place, and those of wrong values alone. */
function wrongLists(valid: readonly unknown[]): (readonly [name: string, list: readonly unknown[]])[] {
  return WRONG.flatMap(([name, value]) => [
    ...valid.map(
      (_, at) =>
        [`${name} as argument ${at + 1}`, valid.map((each, index) => (index === at ? value : each))] as const,
    ),
    [`${name} alone`, [value]] as const,
    [`${name} twice`, [value, value]] as const,
  ]);
}

async function rawErrorsOf(call: (...list: readonly unknown[]) => unknown, valid: readonly unknown[]) {
  const raw: string[] = [];
  for (const [name, list] of wrongLists(valid)) {
    const error = await rawError(() => call(...list));
    if (error !== undefined) raw.push(`${name}: ${error}`);
  }
  return raw;
}

describe.each(entries)('%s', async (path) => {
  const exported: Record<string, unknown> = await import(new URL(`../${path}`, import.meta.url).href);
  const functions = Object.entries(exported).flatMap(([name, value]) =>
    typeof value === 'function' && !/^class\b/.test(String(value)) && name !== INTERNAL
      ? [{ name, call: value }]
      : [],
  );

  it.each(functions.length === 0 ? [{ name: 'no function', call: () => 0 }] : functions)(
    '$name says what it expected, whatever it gets',
    async ({ call }) => {
      expect(await rawErrorsOf((...list) => Reflect.apply(call, undefined, list), [{}, {}, {}])).toEqual([]);
    },
  );
});

describe('RobotsClient', () => {
  const URL_OF_SITE = 'https://example.com/';
  const VALID: Readonly<Record<string, readonly unknown[]>> = {
    canFetch: [URL_OF_SITE, 'ExampleBot', {}],
    check: [URL_OF_SITE, 'ExampleBot', {}],
    peek: [URL_OF_SITE, 'ExampleBot'],
    permits: [URL_OF_SITE, 'ExampleBot'],
    policy: [URL_OF_SITE, {}],
    prefetch: [[URL_OF_SITE], {}],
    reserve: [URL_OF_SITE, 'ExampleBot', {}],
    acquirePermit: [{}, {}],
    report: [URL_OF_SITE, { reachable: true }],
    invalidate: [URL_OF_SITE],
    usageOf: [{}, 'search', {}],
    clear: [],
    stats: [],
    close: [],
  };

  it('has no other method', () => {
    const methods = Object.getOwnPropertyNames(RobotsClient.prototype).filter(
      (name) => !['constructor', 'agent', 'addressPolicy'].includes(name),
    );
    expect(methods.sort()).toEqual(Object.keys(VALID).sort());
  });

  it.each(Object.entries(VALID).filter(([name]) => name !== 'close'))('%s', async (name, valid) => {
    const { robots } = openedClient({ overrides: { 'https://example.com': { text: '' } } });
    const method: (...list: readonly unknown[]) => unknown = Reflect.get(robots, name);
    expect(await rawErrorsOf((...list) => Reflect.apply(method, robots, list), valid)).toEqual([]);
  });

  it('its options', async () => {
    const made = (options: unknown): unknown => Reflect.construct(RobotsClient, [options]);
    expect(await rawErrorsOf(made, [{ agent: 'ExampleBot' }])).toEqual([]);
    for (const name of [
      'agent',
      'cache',
      'clock',
      'dispatcher',
      'overrides',
      'profile',
      'store',
      'transport',
    ])
      expect(await rawErrorsOf((value) => made({ agent: 'ExampleBot', [name]: value }), [{}])).toEqual([]);
  });
});
