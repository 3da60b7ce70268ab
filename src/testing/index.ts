/** `canfetch/testing`: what a crawler's own tests need. */
export type { FakeAnswer } from './answers.ts';
export {
  fakeOrigin,
  type FakeOrigin,
  type FakeOriginOptions,
  type FakeRequest,
  type FakeScript,
} from './fake-origin.ts';
export { virtualClock, type VirtualClock, type VirtualClockOptions } from './virtual-clock.ts';
