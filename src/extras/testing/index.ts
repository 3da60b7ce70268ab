/**
 * The testing room, `canfetch/testing`: tools for a crawler's own tests. It imports errors and the type of a clock.
 * It must not import the rooms that it helps to test, or a library.
 */
export type { FakeAnswer } from './answers.ts';
export {
  fakeOrigin,
  type FakeOrigin,
  type FakeOriginOptions,
  type FakeRequest,
  type FakeScript,
} from './fake-origin.ts';
export { virtualClock, type VirtualClock, type VirtualClockOptions } from './virtual-clock.ts';
