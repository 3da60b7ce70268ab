/**
 * The testing room, `canfetch/testing`: what a crawler's own tests need. It imports errors and the type of a clock, and
 * must not import what it is there to test: no room of the house, no library.
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
