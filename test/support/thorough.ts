/** Whether tests try all that they can, as in CI and `npm run test:all`. */
export const isThorough: boolean = process.env['THOROUGH'] === 'true';

const SHARE = Number(process.env['CASES'] ?? 0.25);

/**
 * How many of the `cases` of a property are tried: a quarter in `npm test`, all of them once in CI, and with `CASES=50`
 * fifty times as many.
 */
export function runs(cases: number): number {
  return Math.ceil(cases * SHARE);
}
