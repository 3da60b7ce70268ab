/** `canfetch/testing`: what a crawler's own tests need. */
export { virtualClock, type VirtualClock, type VirtualClockOptions } from './virtual-clock.ts';
