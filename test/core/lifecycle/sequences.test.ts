import { describe, expect, it } from 'vitest';
import { profiles } from '../../../src/core/lifecycle/index.ts';
import type { Outcome, Profile, KnownState } from '../../../src/core/lifecycle/index.ts';
import fc from '../../support/fast-check.ts';
import { DAY, HOUR, outcomes, SECOND, Story } from './support.ts';
import { runs } from '../../support/thorough.ts';

/** How much a state permits, least first. */
const openness = ({ state }: KnownState): number =>
  ['unknown', 'disallow-all', 'last-good', 'rules', 'allow-all'].indexOf(state);

/** Plays the steps and looks at the state after each attempt and after each pause. */
const play = (
  profile: Profile,
  played: readonly { outcome: Outcome; random: number; pause: number }[],
  look: (stateOf: KnownState, story: Story) => void,
): void => {
  const story = new Story(profile);
  for (const { outcome, random, pause } of played) {
    story.random = random;
    story.meets(outcome);
    look(story.stateOf, story);
    story.later(pause);
    look(story.stateOf, story);
  }
};

describe('in any sequence of answers and pauses', () => {
  const kinds = ['success', 'notModified', 'unavailable', 'restricted', 'unreachable'] as const;
  type Kind = (typeof kinds)[number];
  const headers = fc.record(
    {
      cacheControl: fc.constantFrom('max-age=1', 'max-age=90000', 'no-store', 'x'),
      etag: fc.constantFrom('"1"', '"2"'),
    },
    { requiredKeys: [] },
  );
  const outcomeOf = (kind: Kind): fc.Arbitrary<Outcome> =>
    kind === 'unreachable'
      ? fc.option(fc.integer({ min: SECOND, max: DAY }), { nil: undefined }).map(outcomes.unreachable)
      : headers.map((headers) => outcomes[kind](headers));
  const profile: fc.Arbitrary<Profile> = fc
    .tuple(fc.constantFrom(...Object.values(profiles)), fc.constantFrom(0, HOUR, DAY))
    .map(([profile, keepCopyOnUnavailableMs]) => Object.assign({}, profile, { keepCopyOnUnavailableMs }));
  const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const pause = fc.oneof(fc.integer({ min: 0, max: HOUR }), fc.integer({ min: 0, max: 40 * DAY }));
  const step = (kinds: readonly Kind[], pauses = pause) =>
    fc.record({ outcome: fc.constantFrom(...kinds).chain(outcomeOf), random, pause: pauses });
  const steps = (kinds: readonly Kind[], pauses = pause) =>
    fc.array(step(kinds, pauses), { minLength: 1, maxLength: 12 });

  it('an unknown state is due now, and an answer that is due now is not in force', () => {
    fc.assert(
      fc.property(profile, steps(kinds), (profile, played) => {
        play(profile, played, ({ state }, { due }) => {
          if (state === 'unknown') expect(due).toBe('now');
          if (state === 'rules') expect(due).not.toBe('now');
        });
      }),
    );
  });

  it('setting the clock back allows nothing that was disallowed', () => {
    fc.assert(
      fc.property(profile, steps(kinds), fc.integer({ min: 1, max: 60 * DAY }), (profile, played, back) => {
        const story = new Story(profile);
        for (const { outcome, random, pause } of played) {
          story.later(pause);
          story.random = random;
          story.meets(outcome);
        }
        const before = openness(story.stateOf);
        expect(openness(story.later(-back).stateOf)).toBeLessThanOrEqual(before);
      }),
      { numRuns: runs(200) },
    );
  });

  it('records without the body survive JSON, and are never modified', () => {
    fc.assert(
      fc.property(profile, steps(kinds), (profile, played) => {
        const story = new Story(profile);
        for (const { outcome, pause } of played) {
          const before = story.record;
          const image = structuredClone(before);
          const { copy, ...plain } = story.meets(outcome);
          expect(before).toEqual(image);
          expect(JSON.parse(JSON.stringify(plain))).toEqual(plain);
          if (copy !== undefined) expect(copy.body).toBeInstanceOf(Uint8Array);
          story.later(pause);
        }
      }),
    );
  });
});
