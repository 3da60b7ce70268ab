import { defineConfig } from 'vitest/config';

/** The tests that mutants are judged by: those of the rooms that are mutated, and of the client that uses them. */
export default defineConfig({
  test: {
    include: ['test/{rules,lifecycle,cache,fetch,guard,client}/**/*.test.ts'],
    exclude: [
      // Browsers, and Crawlee's crawlers: a minute for each mutant.
      'test/guard/playwright/**',
      'test/guard/crawlee/browser.test.ts',
      'test/guard/contract-crawlers.test.ts',
    ],
    testTimeout: 60_000,
  },
});
