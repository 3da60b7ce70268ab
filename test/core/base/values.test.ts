import { expect, expectTypeOf, it } from 'vitest';
import { omitUndefined } from '../../../src/core/base/index.ts';

const maybe = (value?: number): number | undefined => value;

it('leaves out what is undefined, and nothing else, in the order given', () => {
  const kept = omitUndefined({ zero: 0, absent: maybe(), none: null, no: false, text: '', some: maybe(1) });
  expect(Object.entries(kept)).toEqual([
    ['zero', 0],
    ['none', null],
    ['no', false],
    ['text', ''],
    ['some', 1],
  ]);
});

it('makes fields that may be undefined optional, and keeps the others', () => {
  const kept = omitUndefined({ always: 'here', some: maybe(1) });
  expectTypeOf(kept).toExtend<{ readonly always: string; readonly some?: number }>();
  expectTypeOf(kept).not.toExtend<{ readonly some: number }>();
});
