import { defineConfig } from 'vitest/config';

/** The quick tests of one room, which `test/mutants/main.ts` names. */
export default defineConfig({
  test: {
    include: process.env['MUTANTS_TESTS']?.split(',') ?? [],
    exclude: ['test/**/*.thorough.test.ts'],
    // Modules are loaded once: a mutant is switched on in them, not compiled in.
    isolate: false,
    testTimeout: 60_000,
  },
});
