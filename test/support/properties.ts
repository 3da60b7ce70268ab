/** fast-check, with the seed of random tests and a limit for shrinking. */
import {
  assert as assertOnce,
  type IAsyncProperty,
  type IProperty,
  type IRawProperty,
  type Parameters,
} from 'fast-check';
import { SEED } from './random.ts';

/** A failed property is shrunk for this long, in ms. Some would shrink for minutes. */
const MAX_SHRINKING_MS = 5_000;

// Tests replace the global clocks.
const performanceNow = performance.now.bind(performance);

/** Stops shrinking `property` in time: its smallest failure so far is reported then. One that holds is never cut short. */
function limitShrinking<Ts>(property: IRawProperty<Ts>): void {
  const shrink = property.shrink.bind(property);
  let failedAt: number | undefined;
  property.shrink = (value) => {
    const start = (failedAt ??= performanceNow());
    return shrink(value).takeWhile(() => performanceNow() - start < MAX_SHRINKING_MS);
  };
}

export * from 'fast-check';

/** @public `fc.assert` of tests. */
export function assert<Ts>(property: IAsyncProperty<Ts>, parameters?: Parameters<Ts>): Promise<void>;
export function assert<Ts>(property: IProperty<Ts>, parameters?: Parameters<Ts>): void;
export function assert<Ts>(property: IRawProperty<Ts>, parameters?: Parameters<Ts>): Promise<void> | void {
  limitShrinking(property);
  return assertOnce(property, { ...parameters, seed: SEED });
}
