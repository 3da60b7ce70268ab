import { Stryker } from '@stryker-mutator/core';

/**
 * `npm run mutants [-- room …]`: changes one token of the source at a time and runs the tests that reach it. A mutant
 * that survives is code that no test holds to anything.
 *
 * A mutant that no caller can tell from the original is named in the source, with the reason:
 * `// Stryker disable next-line <mutator>: <reason>`.
 */
const LEAST_SCORE = 85;

/** The rooms that are mutated, and the tests that judge them. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  lifecycle: ['test/lifecycle/**'],
  rules: ['test/rules/**', 'test/conformance/**'],
  cache: ['test/cache/**', 'test/client/**'],
  fetch: ['test/fetch/**', 'test/client/**'],
  guard: ['test/guard/**'],
};

function chosenRooms(names: readonly string[]): readonly string[] {
  const unknown = names.filter((name) => !(name in ROOMS));
  if (unknown.length > 0) {
    throw new Error(`Expected rooms among ${Object.keys(ROOMS).join(', ')}, got ${unknown.join(', ')}`);
  }
  return names.length > 0 ? names : Object.keys(ROOMS);
}

/** Mutates one room, and returns the percentage of mutants that a test found. */
async function scoreOf(room: string): Promise<number> {
  // The processes that run the tests inherit it; test/mutants/vitest.config.ts reads it.
  process.env['MUTANTS_TESTS'] = ROOMS[room]?.map((folder) => `${folder}/*.test.ts`).join(',');
  const results = await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    mutate: [`src/${room}/**/*.ts`],
    // Tables that are made when a module is loaded would need a run of every test for each mutant.
    ignoreStatic: true,
    // The words of messages are for people: what tests hold to is the code beside them.
    mutator: { excludedMutations: ['StringLiteral'] },
    allowEmpty: true,
    allowConsoleColors: false,
    reporters: ['html', 'json', 'progress-append-only'],
    htmlReporter: { fileName: `build/mutants/${room}.html` },
    jsonReporter: { fileName: `build/mutants/${room}.json` },
    tempDirName: 'build/mutants/sandbox',
    dryRunTimeoutMinutes: 30,
  }).runMutationTest();
  const tried = results.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError');
  const survivors = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  for (const { fileName, location, mutatorName, replacement } of survivors) {
    console.log(`${fileName}:${location.start.line + 1} ${mutatorName}: ${replacement.slice(0, 80)}`);
  }
  const score = 100 - (100 * survivors.length) / Math.max(tried.length, 1);
  console.log(`${room}: ${score.toFixed(1)} % of ${tried.length} mutants killed`);
  return score;
}

const scores: number[] = [];
for (const room of chosenRooms(process.argv.slice(2))) scores.push(await scoreOf(room));
if (scores.some((score) => score < LEAST_SCORE)) process.exitCode = 1;
