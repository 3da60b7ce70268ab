import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../src/version.ts';
import { answer, type Site, startSite } from './support/site.ts';

/**
 * The README's TypeScript is run, each block as a module of its own: imports of the package are led to the
 * source, `https://example.com` to a loopback site. A comment behind an expression, such as `// false`, is a
 * claim, and is checked.
 */
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map((match) => match[1] ?? '');
const folder = new URL('../build/readme/', import.meta.url);
let site: Site;

beforeAll(async () => {
  site = await startSite((request, response) => {
    if (request.url === '/robots.txt') answer(response, { body: 'User-agent: *\nDisallow: /private\n' });
    else answer(response, { body: 'a page' });
  });
  mkdirSync(folder, { recursive: true });
});

afterAll(async () => {
  await site.close();
  if (existsSync(folder)) rmSync(folder, { recursive: true });
});

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
  readonly exports: Readonly<Record<string, { readonly default: string }>>;
};

/** Where an entrance of the package is made. */
function sourceOf(entry: string): string {
  const built = manifest.exports[entry.replace(/^canfetch/, '.')]?.default;
  if (built === undefined) throw new Error(`The README imports ${entry}, which is no entrance`);
  return fileURLToPath(
    new URL(`.${built.replace(/^\.\/dist/, './src').replace(/js$/, 'ts')}`, import.meta.url),
  );
}

/** `expression; // value` → a claim, where the comment is a literal to its end. */
function withClaims(source: string): string {
  return source.replaceAll(
    /^( *)(\S.*); \/\/ (true|false|\d+|'[^']*'|\{ \w+: [^…]*\})$/gm,
    (_, indent: string, expression: string, claim: string) =>
      `${indent}claims.push([${expression}, ${claim}]);`,
  );
}

describe('README', () => {
  it.each(blocks.map((source, index) => [index + 1, source] as const))(
    'block %i runs, and says the truth',
    async (index, source) => {
      const claims: [unknown, unknown][] = [];
      Reflect.set(globalThis, 'claims', claims);
      const module = withClaims(source)
        .replaceAll(/from '(canfetch(?:\/\w+)?)'/g, (_, entry: string) => `from '${sourceOf(entry)}'`)
        // The rules alone need no site.
        .replaceAll(
          'https://example.com',
          source.includes('canfetch/rules') ? 'https://example.com' : site.origin,
        );
      const file = new URL(`block-${index}.ts`, folder);
      writeFileSync(file, module);
      await import(fileURLToPath(file));
      for (const [value, claim] of claims) {
        if (typeof claim === 'object' && claim !== null) expect(value).toMatchObject(claim);
        else expect(value).toBe(claim);
      }
    },
  );

  it('has blocks, and claims in them', () => {
    expect(blocks.length).toBeGreaterThan(3);
    expect(blocks.filter((block) => withClaims(block) !== block).length).toBeGreaterThan(2);
  });

  it('the version in the source is that of the package', () => {
    expect(VERSION).toBe(manifest.version);
  });
});
