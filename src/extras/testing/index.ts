/** `canfetch/testing`: tools for a crawler's own tests. They import only errors and the type of a clock. */
export {
  type FakeResponse,
  fakeOrigin,
  type FakeOrigin,
  type FakeOriginOptions,
  type FakeRequest,
  type FakeScript,
} from './fake-origin.ts';
export { virtualClock, type VirtualClock, type VirtualClockOptions } from './virtual-clock.ts';
