import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const THOROUGH = 'test/**/*.thorough.test.ts';

/**
 * Tests that CI leaves out on its second and third line of Node, because they cannot differ there: of rooms that use
 * nothing of Node (test/architecture.test.ts holds them to it); of documents, sentence by sentence, whose sockets are
 * those of test/core/fetch/ and test/core/client/; of texts and files of the project; and of further drivers for Redis.
 */
const SAME_ON_EVERY_NODE = [
  'test/{rules,lifecycle,url,conformance,seeds,package}/**',
  'test/{readme,architecture}.test.ts',
  'test/stores/redis/redis-topologies.test.ts',
];

/** Files of which the quick tests try a part of the cases, and CI all: those that ask `test/support/thorough.ts`. */
const tests = new URL('test/', import.meta.url);
const ALL_CASES = readdirSync(tests, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(new URL(name, tests), 'utf8').includes("/thorough.ts'"))
  .map((name) => `test/${name}`);

/**
 * Files that take the longest, the longest first. They start first, so that no worker ends alone. vitest itself goes by
 * the size of a file where it has not run it before, as in CI.
 */
const LONG = [
  'stores/lmdb/damaged.thorough',
  'guards/shared/contract-crawlers.thorough',
  'apps/serve/page.thorough',
  'apps/serve/workers.thorough',
  'apps/serve/page-use.thorough',
  'fleet/fleet.thorough',
  'fleet/cluster.thorough',
  'core/pacing/model',
  'core/rules/reference',
  'guards/crawlee/browser.thorough',
  'fleet/faults.thorough',
  'guards/browser/puppeteer.thorough',
  'guards/browser/playwright.thorough',
  'stores/lmdb/lmdb',
  'core/client/faults',
  'readme',
  'fleet/fleet',
  'extras/evidence/evidence-file',
  'apps/cli/cache',
  'apps/serve/openapi',
].map((name) => `/test/${name}.test.ts`);

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONG.findIndex((name) => moduleId.endsWith(name));
      return at < 0 ? LONG.length : at;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}

/** The `imports` of package.json lead to what is built; tests run the source. */
export const platformAlias = {
  '#platform': fileURLToPath(new URL('src/core/fetch/platform/undici.ts', import.meta.url)),
};

// The workers inherit it. It is printed, so that the run can be repeated.
if (process.env['CI'] !== undefined && process.env['CHANGING_SEED'] === undefined) {
  process.env['CHANGING_SEED'] = String(Math.floor(Math.random() * 2 ** 31));
  console.log(`Second seed of all properties: CHANGING_SEED=${process.env['CHANGING_SEED']}`);
}

export default defineConfig({
  resolve: { alias: platformAlias },
  test: {
    // More than processors: the tests wait for servers, browsers and clocks for a third of their time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    setupFiles: ['test/support/setup.ts'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          // `npm test`: every behaviour once. The files of a worker share their modules, which are loaded once: a test
          // puts back what it changes in the process.
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [THOROUGH, ...(process.env['OTHER_NODE'] === 'true' ? SAME_ON_EVERY_NODE : [])],
          isolate: false,
        },
      },
      {
        extends: true,
        // `npm run test:all` and CI have these too: browsers, large fleets, failing servers, fuzz, soak. Each file has a
        // process of its own.
        test: { name: 'thorough', include: [THOROUGH] },
      },
      {
        extends: true,
        // CI and `test:all` have these too: all cases of the files of which the quick tests try a part.
        test: { name: 'cases', include: ALL_CASES, isolate: false, env: { THOROUGH: 'true' } },
      },
    ],
    // Of a long log the end is kept: there what failed is to be found, not what passed.
    reporters: process.env['CI'] === undefined ? ['default'] : ['dot'],
    // Servers, browsers and processes are started, on machines that may be slow and busy. What hangs is told by its name
    // all the same.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 5 } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary'],
      thresholds: {
        // What a file says and what an answer means: all of it is tested. The rest is held to what it has.
        'src/core/rules/**': { lines: 95, branches: 95 },
        'src/core/lifecycle/**': { lines: 95, branches: 95 },
        lines: 90,
        branches: 85,
      },
    },
  },
});
