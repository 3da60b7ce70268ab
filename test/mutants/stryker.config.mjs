/**
 * `npm run mutants`: changes one token of the source at a time and runs the tests that reach it. A mutant that survives
 * is code that no test holds to anything. `npm run mutants -- --mutate 'src/lifecycle/*.ts'` does one room.
 *
 * The report is build/mutants/report.html; mutants that change nothing a caller can see are marked in the source with
 * `// Stryker disable next-line <mutator>: <why it is equivalent>`.
 */
export default {
  testRunner: 'vitest',
  plugins: ['@stryker-mutator/vitest-runner'],
  vitest: { configFile: 'test/mutants/vitest.config.ts' },
  mutate: ['src/{rules,lifecycle,guard,cache,fetch}/**/*.ts'],
  // Tables and messages that are made when a module is loaded would need a run of the whole suite each.
  ignoreStatic: true,
  // The text of messages is for people: what tests hold to is the code beside it.
  mutator: { excludedMutations: ['StringLiteral'] },
  thresholds: { high: 95, low: 85, break: 85 },
  reporters: ['clear-text', 'html', 'json'],
  clearTextReporter: { logTests: false, allowColor: false },
  htmlReporter: { fileName: 'build/mutants/report.html' },
  jsonReporter: { fileName: 'build/mutants/report.json' },
  tempDirName: 'build/mutants/sandbox',
  concurrency: 2,
};
