import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const THOROUGH = 'test/**/*.thorough.test.ts';

/**
 * Tests that CI leaves out on its second and third line of Node, because they cannot differ there: of rooms that use
 * nothing of Node (test/architecture.test.ts holds them to it); of documents, sentence by sentence, whose sockets are
 * those of test/fetch/ and test/client/; of texts and files of the project; and of further drivers for Redis.
 */
const SAME_ON_EVERY_NODE = [
  'test/{rules,lifecycle,url,conformance,seeds,package}/**',
  'test/{readme,architecture}.test.ts',
  'test/store/redis/redis-topologies.test.ts',
];

/** Files of which the quick tests try a part of the cases (`test/support/thorough.ts`), and the thorough ones all. */
const ALL_CASES = [
  'test/client/{store-properties,fleet-pacing}.test.ts',
  'test/evidence/worlds.test.ts',
  'test/guard/contract.test.ts',
  'test/lifecycle/{sequences,under-profile}.test.ts',
  'test/net/addresses.test.ts',
  'test/pacing/model.test.ts',
  'test/rules/{blocks,properties,reference,size}.test.ts',
  'test/rules/lint/lint.test.ts',
  'test/rules/matcher/target-index.test.ts',
  'test/rules/usage/structured-fields.test.ts',
  'test/store/record/record-codec.test.ts',
  'test/url/origin.test.ts',
];

/**
 * Files that wait for other processes, servers or clocks, the longest first. They start first, so that no worker ends
 * alone. vitest itself goes by the size of a file where it has not run it before, as in CI.
 */
const LONG = [
  'fleet/fleet.thorough',
  'fleet/cluster.thorough',
  'conformance/vectors.thorough',
  'guard/contract-crawlers.thorough',
  'fuzz/fuzz.thorough',
  'serve/page.thorough',
  'serve/page-use.thorough',
  'store/lmdb/damaged.thorough',
  'fleet/fleet',
  'client/faults',
  'store/lmdb/lmdb',
  'readme',
  'store/processes',
  'mcp/stdio',
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
  '#platform': fileURLToPath(new URL('src/fetch/platform/undici.ts', import.meta.url)),
};

export default defineConfig({
  resolve: { alias: platformAlias },
  test: {
    // Vitest alone leaves a core for whoever watches: of two it would use one.
    maxWorkers: '100%',
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
        // `npm run test:all` and CI have these too: browsers, large fleets, failing servers, fuzz, soak.
        test: { name: 'thorough', include: [THOROUGH, ...ALL_CASES], env: { THOROUGH: 'true' } },
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
        'src/rules/**': { lines: 95, branches: 95 },
        'src/lifecycle/**': { lines: 95, branches: 95 },
        lines: 90,
        branches: 85,
      },
    },
  },
});
