import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type OutputAsset, type OutputChunk, rolldown } from 'rolldown';
import { beforeAll, describe, expect, it } from 'vitest';
import { manifest } from '../support/entry-points.ts';
import type * as Canfetch from '../../src/index.ts';
import { startSite } from '../support/site.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const source = `${root}src/index.ts`;
const WITHOUT_UNDICI = `${root}src/core/fetch/platform/fetch.ts`;

interface Bundled {
  readonly code: string;
  readonly imports: readonly string[];
  /** What is loaded at first, compressed: the entry, and all that it imports but by `import()`. */
  readonly firstBytes: number;
}

/** The package, or some of it, as a bundler makes it for Workers and pages: in one file, or split where it loads more later. */
async function bundled(names: string, splits = false): Promise<Bundled> {
  const entry = 'entry-of-the-test';
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    // Its `paths` lead to undici.
    tsconfig: false,
    resolve: { alias: { '#platform': WITHOUT_UNDICI } },
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? `export ${names} from ${JSON.stringify(source)};` : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: splits });
  await bundle.close();
  const { code, fileName, imports, dynamicImports } = output[0];
  const chunks = new Map(output.map((chunk) => [chunk.fileName, chunk]));
  const first = new Set<string>();
  const load = (name: string): void => {
    const chunk = chunks.get(name);
    if (chunk?.type !== 'chunk' || first.has(name)) return;
    first.add(name);
    for (const each of chunk.imports) load(each);
  };
  load(fileName);
  const bytes = [...first].map((name) => gzipped(chunks.get(name)));
  return {
    code,
    imports: [...imports, ...dynamicImports].filter((name) => name !== fileName),
    firstBytes: bytes.reduce((sum, each) => sum + each, 0),
  };
}

function gzipped(chunk: OutputChunk | OutputAsset | undefined): number {
  return chunk?.type === 'chunk' ? gzipSync(chunk.code, { level: 9 }).length : 0;
}

describe('the package for Workers and pages', () => {
  let code: string;
  let imports: readonly string[];
  let canfetch: typeof Canfetch;

  beforeAll(async () => {
    ({ code, imports } = await bundled('*'));
    canfetch = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  });

  it('is chosen by conditions, and by no runtime that has undici', () => {
    const withFetch = {
      require: './dist/cjs/platform-fetch.cjs',
      default: './dist/platform-fetch.js',
    };
    const platforms = manifest.imports['#platform'];
    expect(platforms).toEqual({
      workerd: withFetch,
      browser: withFetch,
      bun: withFetch,
      'module-sync': './dist/platform-undici.js',
      require: './dist/cjs/platform-undici.cjs',
      default: './dist/platform-undici.js',
    });
    // The first condition that holds is taken.
    expect(Object.keys(platforms).slice(-3)).toEqual(['module-sync', 'require', 'default']);
  });

  it('imports nothing, and has neither modules of Node nor undici in it', () => {
    expect(imports).toEqual([]);
    expect(code).not.toMatch(/from ?["']node:|import\(["']node:|require\(["']/);
    expect(code).not.toContain('UND_ERR_INVALID_ARG');
  });

  it('asks by the global fetch, and says that it checks literals only', async () => {
    await using site = await startSite({ '/robots.txt': { body: 'User-agent: *\nDisallow: /private' } });
    const robots = new canfetch.RobotsClient({ agent: 'ExampleBot' });
    expect(await robots.canFetch(site.url('/private'))).toBe(false);
    expect(await robots.canFetch(site.url('/page'))).toBe(true);
    expect(await robots.policy(site.url('/'))).toMatchObject({ addressChecks: 'literals' });
    await robots.close();
    await robots.close();
    expect(site.requests.length).toBe(1);
  });

  it.each([
    [
      'addressPolicy',
      { addressPolicy: 'public-only' },
      /"public-only": the fetch of this platform .*Pass `transport/,
    ],
    ['lookup', { lookup: () => {} }, /Expected no `lookup`/],
    ['dispatcher', { dispatcher: { dispatch: () => true } }, /Expected no `dispatcher`/],
  ])('refuses `%s`, which needs undici, when a client is made', (_, options, message) => {
    const make = (given: object): unknown => new canfetch.RobotsClient({ agent: 'ExampleBot', ...given });
    expect(() => make(options)).toThrow(
      expect.objectContaining({
        code: 'ERR_ROBOTS_INVALID_OPTIONS',
        message: expect.stringMatching(message),
      }),
    );
  });

  it('refuses to guard pages by an address policy that it cannot hold', () => {
    const robots = new canfetch.RobotsClient({ transport: { fetch }, addressPolicy: 'public-only' });
    expect(() => canfetch.guardFetch(fetch, robots, { addressPolicy: 'public-only' })).toThrow(
      expect.objectContaining({ code: 'ERR_ROBOTS_INVALID_OPTIONS' }),
    );
    expect(() => canfetch.guardFetch(fetch, robots, { addressPolicy: 'no-public-to-private' })).not.toThrow();
  });

  // Stores, snapshots, descriptions of policies and pacing come when they are used, unless all is in one file.
  it.each([
    ['{ RobotsClient }', 45_000, 84_500],
    ['{ RobotsClient, guardFetch, refusalIn }', 57_400, 96_500],
  ])('weighs no more than it may, compressed: %s', async (names, first, whole) => {
    const split = await bundled(names, true);
    expect(split.firstBytes).toBeLessThanOrEqual(first);
    const inOneFile = await bundled(names);
    expect(inOneFile.firstBytes).toBeLessThanOrEqual(whole);
  });
});
