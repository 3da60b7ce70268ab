import { defineConfig } from 'vitest/config';
import { sourceAlias } from '../../vitest.config.ts';

/** The quick tests of one module, which `test/mutants/main.ts` names. */
export default defineConfig({
  resolve: { alias: sourceAlias },
  test: {
    include: process.env['MUTANTS_TESTS']?.split(',') ?? [],
    // Mutated code is larger than what is published.
    exclude: ['test/**/*.thorough.test.ts', 'test/core/rules/bundle.test.ts'],
    // Modules are loaded once: a mutant is switched on in them, not compiled in.
    isolate: false,
    setupFiles: ['test/support/setup.ts', 'test/mutants/setup.ts'],
    testTimeout: 60_000,
  },
});
