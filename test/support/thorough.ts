/** Whether tests try all that they can, as in CI and `npm run test:all`. */
export const isThorough: boolean = process.env['THOROUGH'] === 'true';

const TIMES = Number(process.env['CASES'] ?? 1);

/** The number of cases that a property tries where `npm test` tries `cases`: `CASES=50` tries 50 times as many. */
export function runs(cases: number): number {
  return cases * TIMES;
}
