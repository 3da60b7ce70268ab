import { Stryker } from '@stryker-mutator/core';

/**
 * `npm run mutants [-- place …]`: changes one token of the source at a time and runs the tests that reach it. A mutant
 * that survives is code that no test holds to anything. A place is a room or a file of one: `lifecycle/state.ts`.
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

/** Mutates one room, or one file of it, and returns the percentage of mutants that a test found. */
async function scoreOf(place: string): Promise<number> {
  const room = place.split('/', 1)[0] ?? '';
  if (!(room in ROOMS)) throw new Error(`Expected one of ${Object.keys(ROOMS).join(', ')}, got ${room}`);
  // The processes that run the tests inherit it; test/mutants/vitest.config.ts reads it.
  process.env['MUTANTS_TESTS'] = ROOMS[room]?.map((folder) => `${folder}/*.test.ts`).join(',');
  const results = await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    mutate: [place === room ? `src/${room}/**/*.ts` : `src/${place}`],
    // Tables that are made when a module is loaded would need a run of every test for each mutant.
    ignoreStatic: true,
    // The words of messages are for people: what tests hold to is the code beside them.
    mutator: { excludedMutations: ['StringLiteral'] },
    allowEmpty: true,
    allowConsoleColors: false,
    reporters: ['html', 'json', 'progress-append-only'],
    htmlReporter: { fileName: `build/mutants/${place.replaceAll('/', '-')}.html` },
    jsonReporter: { fileName: `build/mutants/${place.replaceAll('/', '-')}.json` },
    tempDirName: 'build/mutants/sandbox',
    dryRunTimeoutMinutes: 30,
  }).runMutationTest();
  const tried = results.filter(({ status }) => status !== 'Ignored' && status !== 'CompileError');
  const survivors = tried.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  for (const { fileName, location, mutatorName, replacement } of survivors) {
    console.log(`${fileName}:${location.start.line + 1} ${mutatorName}: ${replacement.slice(0, 80)}`);
  }
  const score = 100 - (100 * survivors.length) / Math.max(tried.length, 1);
  console.log(`${place}: ${score.toFixed(1)} % of ${tried.length} mutants killed`);
  return score;
}

const places = process.argv.slice(2);
const scores: number[] = [];
for (const place of places.length > 0 ? places : Object.keys(ROOMS)) scores.push(await scoreOf(place));
if (scores.some((score) => score < LEAST_SCORE)) process.exitCode = 1;
