/**
 * Whether tests try all of their cases. The project `cases` of vitest.config.ts runs the files that import this again,
 * with all cases; `npm test` tries a part of them.
 */
export const isThorough: boolean = process.env['THOROUGH'] === 'true';

/** The number of cases that a property tries: all in the project `cases`, a fifth in `npm test`. */
export function runs(all: number): number {
  return isThorough ? all : Math.ceil(all / 5);
}
