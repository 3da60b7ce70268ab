/** Whether tests try all of their cases, as in CI and `npm run test:all`. `npm test` tries a part of them. */
export const isThorough: boolean = process.env['THOROUGH'] === 'true';

/** The number of cases that a property tries: a fifth in `npm test`. */
export function runs(all: number): number {
  return isThorough ? all : Math.ceil(all / 5);
}
