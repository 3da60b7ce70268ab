import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { VERSION } from '../src/core/base/values.ts';
import { skippedWithoutChromium } from './support/chromium.ts';
import { entryPoints, manifest, sourceOf } from './support/entry-points.ts';
import './support/crawlee.ts';
import { startFtpSite } from './support/ftp-site.ts';
import { startProxy } from './support/proxy.ts';
import { installed } from './support/installed.ts';
import { openedForAll, siteForAll } from './support/opened.ts';
import { startRedis } from './support/redis-server.ts';
import { answer } from './support/site.ts';

/**
 * Runs the TypeScript and JavaScript of the README and of the guides, each block as a module. Imports of the
 * package lead to the source; `https://example.com`, `ftp://ftp.example.com` and the proxy lead to loopback. A comment
 * after an expression, such as `// false`, is a claim and is checked. A block that begins with "```ts needs-chromium"
 * runs where there is a Chromium, which then stands in for `playwright` and `puppeteer`. All blocks are also compiled as a user would
 * compile them, with `strict` and `noUncheckedIndexedAccess`.
 */
const root = fileURLToPath(new URL('../', import.meta.url));
const guides = [
  'README.md',
  ...readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('README.md'))
    .map((file) => `src/${file.replaceAll('\\', '/')}`)
    .sort(),
  'test/bench/README.md',
];
/** Those that the package carries. */
const packed = guides.filter((guide) =>
  /^(?:README\.md|src\/(?!core\/rules\/matcher\/)[\w-]+\/(?:.+\/)?README\.md)$/.test(guide),
);
const redis = installed('redis-server') !== undefined;

const textOf = (guide: string): string => readFileSync(join(root, guide), 'utf8');

/** The bars and lines of tables are no words, nor is code. */
const wordsOf = (files: readonly string[]): number =>
  files
    .flatMap((file) =>
      textOf(file)
        .replaceAll(/^```.*?^```$/gms, '')
        .split(/\s+/),
    )
    .filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Whether a file is there, and has the heading. Anchors are made as GitHub makes them. */
function leads(file: string, heading: string | undefined): boolean {
  if (!existsSync(join(root, file))) return false;
  if (heading === undefined) return true;
  return [...textOf(file).matchAll(/^#+ (.*)$/gm)].some(
    ([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-') === heading,
  );
}

/** Why a block is not run, if it is not: what it needs may be missing. */
function skippedFor(needs: string | undefined, source: string): string | undefined {
  if (needs !== undefined) return skippedWithoutChromium;
  return source.includes('REDIS_URL') && !redis ? 'redis-server is not installed' : undefined;
}

interface Block {
  readonly guide: string;
  readonly line: number;
  readonly source: string;
  readonly skipped: string | undefined;
}

const blocks = guides.flatMap((guide): Block[] => {
  const text = textOf(guide);
  return [...text.matchAll(/^```(?:ts|js)(?: (needs-chromium))?\n(.*?)^```$/gms)].map(
    ({ 1: needs, 2: source = '', index }) => ({
      guide,
      line: text.slice(0, index).split('\n').length,
      source,
      skipped: skippedFor(needs, source),
    }),
  );
});
const chromium = fileURLToPath(new URL('support/chromium.ts', import.meta.url));
const puppeteer = fileURLToPath(new URL('support/puppeteer.ts', import.meta.url));
const folder = new URL('../build/readme/', import.meta.url);
const site = await siteForAll((request, response) => {
  if (request.url === '/robots.txt') answer(response, { body: 'User-agent: *\nDisallow: /private\n' });
  else answer(response, { body: 'a page' });
});
/** What the quick start asks. */
const google = await siteForAll({
  '/robots.txt': { body: 'User-agent: *\nDisallow: /search\n' },
  '/humans.txt': { body: 'people' },
});
const ftpSite = openedForAll(await startFtpSite());
const proxy = openedForAll(await startProxy());
const redisServer = redis ? openedForAll(await startRedis()) : undefined;
mkdirSync(folder, { recursive: true });
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/**
 * `expression; // value` → a claim, where the comment is a literal to its end. So is what `console.log` prints: its comment
 * is the line, or how it begins.
 */
function withClaims(source: string): string {
  const printed = source.replaceAll(
    /^( *console\.log\((.*)\);) \/\/ (.*?)( …)?$/gm,
    (_, call: string, values: string, line: string, cut = '') =>
      `${call} claims.push([[${values}].join(' ')${cut === '' ? '' : `.slice(0, '${line}'.length)`}, '${line}']);`,
  );
  return printed.replaceAll(
    /^( *)(\S.*); \/\/ (true|false|\d+|'[^']*'|\{ \w+: [^…\n]*\})$/gm,
    (_, indent: string, expression: string, claim: string) =>
      `${indent}claims.push([${expression}, ${claim}]);`,
  );
}

async function run(index: number, source: string): Promise<void> {
  const claims: [unknown, unknown][] = [];
  Reflect.set(globalThis, 'claims', claims);
  const module = withClaims(source)
    .replaceAll(
      /from '(canfetch(?:\/[\w-]+)?)'/g,
      (_, entry: string) => `from '${join(root, sourceOf(entry))}'`,
    )
    .replaceAll("from 'playwright'", `from '${chromium}'`)
    .replaceAll("from 'puppeteer'", `from '${puppeteer}'`)
    .replaceAll('ftp://ftp.example.com', ftpSite.origin)
    .replaceAll('http://proxy.example.com:3128', proxy.url)
    .replaceAll('./robots.sqlite', fileURLToPath(new URL('robots.sqlite', folder)))
    .replaceAll('./evidence.', fileURLToPath(new URL('evidence.', folder)))
    .replaceAll('https://www.google.com', google.origin)
    .replaceAll('process.env.REDIS_URL', JSON.stringify(redisServer?.url))
    // The rules alone need no site.
    .replaceAll(
      'https://example.com',
      source.includes('canfetch/rules') ? 'https://example.com' : site.origin,
    );
  const file = new URL(`block-${index}.ts`, folder);
  writeFileSync(file, module);
  // An import activates nock only once, and another file of this worker may have restored what it replaces.
  if (source.includes("from 'nock'")) {
    const { default: nock } = await import('nock');
    if (!nock.isActive()) nock.activate();
  }
  await import(fileURLToPath(file));
  for (const [value, claim] of claims) {
    if (typeof claim === 'object' && claim !== null) expect(value).toMatchObject(claim);
    else expect(value).toBe(claim);
  }
}

/** Compiles every block as it stands, with the package's entry points leading to the source. Returns the compiler's output. */
async function compileBlocks(): Promise<string> {
  const compiled = new URL('compiled/', folder);
  mkdirSync(compiled, { recursive: true });
  for (const [index, { source }] of blocks.entries()) {
    // A block without imports is a module as well.
    writeFileSync(new URL(`block-${index}.ts`, compiled), `${source}\nexport {};\n`);
  }
  const config = {
    compilerOptions: {
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      skipLibCheck: true,
      target: 'ES2022',
      lib: ['ES2022', 'ESNext.Disposable'],
      module: 'nodenext',
      types: ['node'],
      allowImportingTsExtensions: true,
      paths: {
        '#platform': [join(root, 'src/core/fetch/platform/undici.ts')],
        playwright: [join(root, 'node_modules/playwright-core/index.d.ts')],
        ...Object.fromEntries(
          Object.entries(entryPoints).map(([name, source]) => [
            name === 'index' ? 'canfetch' : `canfetch/${name}`,
            [join(root, source)],
          ]),
        ),
      },
    },
    include: ['*.ts'],
  };
  writeFileSync(new URL('tsconfig.json', compiled), JSON.stringify(config));
  const tsc = join(root, 'node_modules/.bin/tsc');
  return promisify(execFile)(tsc, ['-p', fileURLToPath(compiled)]).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string; readonly stderr: string }) => error.stdout + error.stderr,
  );
}

describe('the guides', () => {
  for (const [index, { guide, line, source, skipped }] of blocks.entries()) {
    const name = `${guide}:${line}`;
    if (skipped !== undefined) it.skip(`${name} (${skipped})`, () => run(index, source));
    else it(`${name} runs, and its claims are true`, () => run(index, source));
  }

  it('compile under `strict`', async () => {
    const errors = (await compileBlocks()).replaceAll(
      /^.*block-(\d+)\.ts\((\d+)/gm,
      (_, index: string, line: string) => {
        const block = blocks[Number(index)];
        return block === undefined ? '' : `${block.guide}:${block.line + Number(line)} (`;
      },
    );
    expect(errors).toBe('');
  });

  it('lead through the proxy where they say so', () => {
    expect(proxy.tunnels.length).toBeGreaterThanOrEqual(1);
  });

  it('have blocks, and claims in them', () => {
    expect(blocks.length).toBeGreaterThan(20);
    expect(blocks.filter(({ source }) => withClaims(source) !== source).length).toBeGreaterThan(15);
  });

  it('have links that lead somewhere', () => {
    const dead = guides.flatMap((guide) =>
      [...textOf(guide).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)]*))?\)/g)]
        .filter(
          ([, target = '', heading]) => !leads(target === '' ? guide : join(guide, '..', target), heading),
        )
        .map(([link]) => `${guide}: ${link}`),
    );
    expect(dead).toEqual([]);
  });

  it('are whole in the package: they link to no file that it does not carry', () => {
    const carried = (target: string): boolean =>
      packed.includes(target) || target === 'LICENSE' || /^test\/demo\/starters\/[\w-]+\.js$/.test(target);
    const astray = packed.flatMap((guide) =>
      // A picture that the package leaves out shows as its description.
      [...textOf(guide).matchAll(/(?<!!\[[^\]]*)\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)]
        .map(([, target = '']) => join(guide, '..', target))
        .filter((target) => !carried(target))
        .map((target) => `${guide}: ${target}`),
    );
    expect(astray).toEqual([]);
  });

  it('have a line for each warning, with what mends it', () => {
    const codes = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => textOf(join('src', file)).match(/(?<=')CANFETCH_[A-Z_]+(?=')/g) ?? []);
    const table = textOf('src/core/client/README.md').match(/(?<=^\| `)CANFETCH_[A-Z_]+/gm) ?? [];
    expect(table.sort()).toEqual([...new Set(codes)].sort());
    expect(codes).toContain('CANFETCH_NO_RESPONSE');
  });

  it('are short: those of the package and all, without code', () => {
    expect(wordsOf(packed)).toBeLessThanOrEqual(10_500);
    expect(wordsOf(guides)).toBeLessThanOrEqual(13_000);
  });

  it('begin with a README that a newcomer can read in one sitting', () => {
    expect(readFileSync(join(root, 'README.md'), 'utf8').split('\n').length).toBeLessThanOrEqual(301);
  });

  it('stand beside a source whose version is that of the package', () => {
    expect(VERSION).toBe(manifest.version);
  });
});
