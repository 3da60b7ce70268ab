import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { entryPoints } from './test/support/entry-points.ts';

const THOROUGH = 'test/**/*.thorough.test.ts';

/** The major version of the Node that CI runs further tests on. */
const otherNode = process.env['OTHER_NODE'];

/**
 * Tests that CI leaves out on its second and third line of Node, because they cannot differ there: of what uses nothing of
 * Node that other tests do not use there, too; of documents, sentence by sentence, whose sockets are those of test/core/;
 * of the project's own files; of random schedules in virtual time; of commands that write what is tested there, but for
 * their streams, arguments and connections; of the tools of MCP, over streams in memory; and of drivers for Redis, which
 * the tests of fleets use on the newest line.
 */
const SAME_ON_EVERY_NODE = [
  'test/core/{cache,decision,lifecycle,pacing,rules,store,url}/**',
  'test/core/client/reentrancy.test.ts',
  'test/guards/schedules.test.ts',
  'test/guards/crawlee/schedules-crawlee.test.ts',
  'test/extras/{report,robots-parser}/**',
  'test/extras/evidence/replay-property.test.ts',
  'test/apps/answers/**',
  'test/apps/cli/!(stdin|usage|proxy|redis-store).test.ts',
  'test/apps/mcp/!(stdio).test.ts',
  'test/{package,specifications}/*.test.ts',
  'test/{readme,architecture}.test.ts',
  'test/stores/redis/**',
];

/**
 * What CI leaves out on the line of Node between the oldest and the newest, too: programs over what is tested there, and
 * of guards all but their contract and how they stand beside the library alone.
 */
const SAME_BETWEEN = [
  'test/{apps,demo,extras,programs}/**',
  'test/guards/{browser,crawlee,undici}/**',
  'test/guards/!(contract|as-the-library).test.ts',
  'test/stores/processes.test.ts',
];

/** The `imports` of package.json, and the package's own name, lead to what is built; tests run the source. */
export const sourceAlias = {
  '#platform': fileURLToPath(new URL('src/core/fetch/platform/undici.ts', import.meta.url)),
  ...Object.fromEntries(
    Object.entries(entryPoints)
      .sort(([a], [b]) => b.length - a.length)
      .filter(([name]) => name !== 'index')
      .map(([name, path]) => [`canfetch/${name}`, fileURLToPath(new URL(path, import.meta.url))]),
  ),
  canfetch: fileURLToPath(new URL('src/index.ts', import.meta.url)),
};

export default defineConfig({
  resolve: { alias: sourceAlias },
  test: {
    // On two processors one more: the tests also wait for servers, browsers and clocks. Each worker loads all libraries.
    maxWorkers: Math.max(3, availableParallelism()),
    setupFiles: ['test/support/setup.ts'],
    projects: [
      {
        extends: true,
        test: {
          // `npm test`: every behaviour once. The files of a worker share their modules, which are loaded once: a test
          // puts back what it changes in the process.
          name: 'quick',
          include: ['test/**/*.test.ts'],
          exclude: [
            THOROUGH,
            ...(otherNode === undefined ? [] : SAME_ON_EVERY_NODE),
            ...(otherNode === '22' ? SAME_BETWEEN : []),
          ],
          isolate: false,
        },
      },
      {
        extends: true,
        // `npm run test:all` and CI have these too: browsers, large fleets, failing servers. Each file has a
        // process of its own.
        test: { name: 'thorough', include: [THOROUGH] },
      },
    ],
    // Later runs, also on another line of Node, reuse the transformed modules.
    experimental: { fsModuleCache: true },
    // CI keeps the end of a long log: what failed must be there, not what passed.
    reporters: [process.env['CI'] === undefined ? 'default' : 'dot'],
    // Tests start servers, browsers and processes, on machines that may be slow and busy.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000, interval: 5 } },
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.d.ts'],
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
