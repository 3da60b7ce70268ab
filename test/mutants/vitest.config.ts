import { defineConfig } from 'vitest/config';

/** The quick tests of one room, which `test/mutants/main.ts` names. */
export default defineConfig({
  test: {
    include: process.env['MUTANTS_TESTS']?.split(',') ?? [],
    exclude: ['test/**/*.thorough.test.ts'],
    testTimeout: 60_000,
  },
});
