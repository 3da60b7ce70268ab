import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Stryker } from '@stryker-mutator/core';

/**
 * `npm run mutants [-- place …]`: changes one token of the source at a time and runs the tests that reach it. A mutant
 * that survives is code that no test holds to anything. A place is a module or a file of one: `core/lifecycle/state.ts`. A file
 * that has a file of tests of the same name is judged by that alone, in a minute or two.
 *
 * A mutant that no caller can tell from the original is named in the source, with the reason:
 * `// Stryker disable next-line <mutator>: <reason>`.
 */
const LEAST_SCORE = 85;

/** The modules that are mutated, and the tests that judge them. */
const MODULES: Readonly<Record<string, readonly string[]>> = {
  'core/lifecycle': ['test/core/lifecycle/**'],
  'core/rules': ['test/core/rules/**', 'test/conformance/**'],
  'core/cache': ['test/core/cache/**', 'test/core/client/**'],
  'core/fetch': ['test/core/fetch/**', 'test/core/client/**'],
  guards: ['test/guards/**'],
};

/** The file of tests that has the name of a file. */
function ownTests(place: string): string | undefined {
  const own = `test/${place.replace(/\.ts$/, '.test.ts')}`;
  return existsSync(own) ? own : undefined;
}

function moduleTests(place: string): readonly string[] {
  const name = Object.keys(MODULES).find((each) => place === each || place.startsWith(`${each}/`)) ?? '';
  const folders = MODULES[name];
  if (folders === undefined)
    throw new Error(`Expected one of ${Object.keys(MODULES).join(', ')}, got ${place}`);
  return folders.map((folder) => `${folder}/*.test.ts`);
}

interface Tally {
  tried: number;
  killed: number;
}

/** Mutates places that the same tests judge. Counts the mutants of each file, and those that a test found. */
async function mutate(places: readonly string[], tests: readonly string[]): Promise<Map<string, Tally>> {
  // The processes that run the tests inherit it; test/mutants/vitest.config.ts reads it.
  process.env['MUTANTS_TESTS'] = tests.join(',');
  const name = places.map((place) => place.replaceAll('/', '-')).join('+');
  const results = await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'test/mutants/vitest.config.ts', related: false },
    mutate: places.map((place) => (place.endsWith('.ts') ? `src/${place}` : `src/${place}/**/*.ts`)),
    // Each worker loads the tests anew for each mutant: more of them than cores only wait for one another.
    concurrency: Number(process.env['MUTANTS_WORKERS'] ?? Math.max(1, availableParallelism() - 1)),
    // Tables that are made when a module is loaded would need a run of every test for each mutant.
    ignoreStatic: true,
    // The words of messages are for people: what tests hold to is the code beside them.
    mutator: { excludedMutations: ['StringLiteral'] },
    allowEmpty: true,
    allowConsoleColors: false,
    reporters: ['html', 'json', 'progress-append-only'],
    htmlReporter: { fileName: `build/mutants/${name}.html` },
    jsonReporter: { fileName: `build/mutants/${name}.json` },
    tempDirName: `build/mutants/sandbox`,
    dryRunTimeoutMinutes: 30,
  }).runMutationTest();
  const tallies = new Map<string, Tally>();
  for (const { fileName, location, mutatorName, replacement, status } of results) {
    if (status === 'Ignored' || status === 'CompileError') continue;
    const file = fileName.slice(fileName.lastIndexOf('src/') + 'src/'.length);
    const tally = tallies.get(file) ?? { tried: 0, killed: 0 };
    tallies.set(file, tally);
    tally.tried++;
    if (status !== 'Survived' && status !== 'NoCoverage') tally.killed++;
    else console.log(`${file}:${location.start.line} ${mutatorName}: ${replacement.slice(0, 80)}`);
  }
  return tallies;
}

function score(tallies: Iterable<Tally>): { readonly percent: number; readonly tried: number } {
  let [tried, killed] = [0, 0];
  for (const tally of tallies) {
    tried += tally.tried;
    killed += tally.killed;
  }
  return { percent: tried === 0 ? 100 : (100 * killed) / tried, tried };
}

const places = process.argv.slice(2);
const runs: (readonly [places: readonly string[], tests: readonly string[]])[] = [];
for (const place of places.length > 0 ? places : Object.keys(MODULES)) {
  if (ownTests(place) === undefined) runs.push([[place], moduleTests(place)]);
}
// Starting Stryker takes longer than such a file: they share a run.
const alone = places.filter((place) => ownTests(place) !== undefined);
if (alone.length > 0) runs.push([alone, alone.flatMap((place) => ownTests(place) ?? [])]);
for (const [judged, tests] of runs) {
  const tallies = await mutate(judged, tests);
  for (const [file, tally] of tallies) {
    const { percent, tried } = score([tally]);
    console.log(`  ${file}: ${percent.toFixed(1)} % of ${tried} mutants killed`);
  }
  const { percent, tried } = score(tallies.values());
  console.log(`${judged.join(' ')}: ${percent.toFixed(1)} % of ${tried} mutants killed`);
  if (percent < LEAST_SCORE) process.exitCode = 1;
}
