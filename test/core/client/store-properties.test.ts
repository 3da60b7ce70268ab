import { describe, expect, it } from 'vitest';
import { RobotsClient, type RobotsStore } from '../../../src/index.ts';
import { virtualClock } from '../../../src/extras/testing/index.ts';
import fc from '../../support/fast-check.ts';
import { ScriptedStore } from '../../support/store.ts';
import { runs } from '../../support/thorough.ts';

const FORBIDS = 'User-agent: *\nDisallow: /private\n';
const ORIGINS = ['https://a.example', 'https://b.example', 'https://c.example:8443'];
const OPEN = 'https://open.example';

/** No site but one allows /private; what any of them answers is always this. */
const transport = {
  fetch: async (url: string) => new Response(url.startsWith(OPEN) ? 'User-agent: *\nAllow: /\n' : FORBIDS),
};

/** What becomes of one call of the store. Numbers choose among what there is. */
type Twist =
  | { readonly kind: 'work' | 'reject' | 'throw' | 'hang' | 'forget' | 'of another' }
  | { readonly kind: 'give'; readonly value: unknown }
  | { readonly kind: 'change'; readonly at: number; readonly to: string; readonly cut: number };

const twist: fc.Arbitrary<Twist> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .constantFrom('work', 'work', 'work', 'work', 'work', 'reject', 'throw', 'forget', 'of another')
      .map((kind) => ({ kind })),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'hang' } as const) },
  {
    weight: 2,
    arbitrary: fc
      .oneof(
        fc.string(),
        fc.json(),
        fc.anything(),
        fc.constant('{"v":3,"sum":0,"record":{"origin":"https://a.example"}}'),
      )
      .map((value) => ({ kind: 'give', value }) as const),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ at: fc.nat(400), to: fc.string({ unit: 'binary', maxLength: 8 }), cut: fc.nat(60) })
      .map((change) => ({ kind: 'change', ...change }) as const),
  },
);

/** A store that does its work, each call with a twist of its own. */
function twisted(store: ScriptedStore, twists: readonly Twist[]): RobotsStore {
  let taken = 0;
  const call = async (work: () => unknown, twist: Twist): Promise<unknown> => {
    switch (twist.kind) {
      case 'work':
        return work();
      case 'reject':
      case 'throw':
        throw new Error('twisted');
      case 'hang':
        return new Promise(() => undefined);
      case 'forget':
        return undefined;
      case 'of another':
        return [...store.entries.values()].at(-1)?.value;
      case 'give':
        return twist.value;
      case 'change': {
        const value = await work();
        if (typeof value !== 'string') return value;
        const at = twist.at % value.length;
        return value.slice(0, at) + twist.to + value.slice(at + twist.cut);
      }
    }
  };
  const next = (work: () => unknown): Promise<never> => {
    const twist = twists[taken++ % twists.length]!;
    if (twist.kind === 'throw') throw new Error('twisted');
    return call(work, twist) as Promise<never>;
  };
  return {
    get: (key) => next(() => store.get(key)),
    set: (key, value, options) => next(() => store.set(key, value, options)),
    delete: (key) => next(() => store.delete(key)),
    lease: (key, ttlMs) => next(() => store.lease?.(key, ttlMs)),
    reserve: (key, delayMs) => next(() => store.reserve?.(key, delayMs)),
  };
}

type Step = {
  readonly site: number;
  readonly laterMs: number;
  readonly restarts: boolean;
  readonly forgets: boolean;
};
const step: fc.Arbitrary<Step> = fc.record({
  site: fc.nat(ORIGINS.length - 1),
  laterMs: fc.constantFrom(0, 1_000, 3_600_000, 90_000_000, 3_000_000_000),
  restarts: fc.boolean(),
  forgets: fc.boolean(),
});

describe('with any behaviour of the store', () => {
  it('every question is answered, and nothing is allowed that the site forbids', async () => {
    let fromStore = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(twist, { minLength: 1, maxLength: 12 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (twists, steps) => {
          const clock = virtualClock({ autoAdvance: true });
          const store = new ScriptedStore({ clock, reserves: true });
          // Memory is laid out when a client is made: a small one is quickly made.
          const common = { agent: 'ExampleBot', clock, transport, cache: { maxOrigins: 8 } };
          const start = (): RobotsClient =>
            new RobotsClient({
              ...common,
              store: twisted(store, twists),
              storeDeadlineMs: 1,
              deadlineMs: 1_000,
            });
          // An earlier process stored the one site that allows everything.
          const before = new RobotsClient({ ...common, store });
          for (const origin of [...ORIGINS, OPEN]) await before.canFetch(origin);
          await before.close();
          let robots = start();
          for (const { site, laterMs, restarts, forgets } of steps) {
            await clock.advance(laterMs);
            if (restarts) {
              await robots.close();
              robots = start();
            }
            if (forgets) await robots.invalidate(ORIGINS[site]!);
            const url = `${ORIGINS[site]}/private`;
            const [allowed, decision] = await Promise.all([robots.canFetch(url), robots.check(url)]);
            expect([allowed, decision.allowed]).toEqual([false, false]);
            if (decision.robots.source === 'store') fromStore++;
            expect(await robots.canFetch(`${ORIGINS[site]}/`)).toBe(true);
          }
          await robots.close();
        },
      ),
      { numRuns: runs(40) },
    );
    expect(fromStore).toBeGreaterThan(0);
  }, 60_000);
});
