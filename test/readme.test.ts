import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VERSION } from '../src/base/version.ts';
import { skippedWithoutChromium } from './support/chromium.ts';
import './support/crawlee.ts';
import { type FtpSite, startFtpSite } from './support/ftp-site.ts';
import { type Proxy, startProxy } from './support/proxy.ts';
import { installed } from './support/installed.ts';
import { type RedisServer, startRedis } from './support/redis-server.ts';
import { answer, type Site, startSite } from './support/site.ts';

/**
 * The README's TypeScript is run, each block as a module of its own: imports of the package are led to the
 * source, `https://example.com`, `ftp://ftp.example.com` and the proxy to loopback. A comment behind an expression, such
 * as `// false`, is a claim, and is checked. A block that begins with "```ts needs-chromium" is run where there is a
 * Chromium, which then is what it imports from `playwright`.
 */
const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const redis = installed('redis-server') !== undefined;

/** Why a block is not run, if it is not: what it needs may be missing. */
function skippedFor(needs: string | undefined, source: string): string | undefined {
  if (needs !== undefined) return skippedWithoutChromium;
  return source.includes('REDIS_URL') && !redis ? 'redis-server is not installed' : undefined;
}

const blocks = [...readme.matchAll(/^```ts(?: (needs-chromium))?\n(.*?)^```$/gms)].map(
  ([, needs, source = '']) => ({ source, skipped: skippedFor(needs, source) }),
);
const chromium = fileURLToPath(new URL('support/chromium.ts', import.meta.url));
const folder = new URL('../build/readme/', import.meta.url);
let site: Site;
let redisServer: RedisServer | undefined;
let ftpSite: FtpSite;
let proxy: Proxy;

beforeAll(async () => {
  site = await startSite((request, response) => {
    if (request.url === '/robots.txt') answer(response, { body: 'User-agent: *\nDisallow: /private\n' });
    else answer(response, { body: 'a page' });
  });
  ftpSite = await startFtpSite();
  proxy = await startProxy();
  mkdirSync(folder, { recursive: true });
  if (redis) redisServer = await startRedis();
});

afterAll(async () => {
  await site.close();
  await redisServer?.stop();
  await ftpSite.close();
  await proxy[Symbol.asyncDispose]();
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
    /^( *)(\S.*); \/\/ (true|false|\d+|'[^']*'|\{ \w+: [^…\n]*\})$/gm,
    (_, indent: string, expression: string, claim: string) =>
      `${indent}claims.push([${expression}, ${claim}]);`,
  );
}

async function run(index: number, source: string): Promise<void> {
  const claims: [unknown, unknown][] = [];
  Reflect.set(globalThis, 'claims', claims);
  const module = withClaims(source)
    .replaceAll(/from '(canfetch(?:\/\w+)?)'/g, (_, entry: string) => `from '${sourceOf(entry)}'`)
    .replaceAll("from 'playwright'", `from '${chromium}'`)
    .replaceAll('ftp://ftp.example.com', ftpSite.origin)
    .replaceAll('http://proxy.example.com:3128', proxy.url)
    .replaceAll('./robots-cache', fileURLToPath(new URL('robots-cache', folder)))
    .replaceAll('process.env.REDIS_URL', JSON.stringify(redisServer?.url))
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
}

describe('README', () => {
  for (const [index, { source, skipped }] of blocks.entries()) {
    if (skipped !== undefined) it.skip(`block ${index + 1} (${skipped})`, () => run(index, source));
    else it(`block ${index + 1} runs, and says the truth`, () => run(index, source));
  }

  it('goes through the proxy where it says so', () => {
    expect(proxy.tunnels.length).toBeGreaterThanOrEqual(1);
  });

  it('has blocks, and claims in them', () => {
    expect(blocks.length).toBeGreaterThan(3);
    expect(blocks.filter(({ source }) => withClaims(source) !== source).length).toBeGreaterThan(2);
  });

  it('the version in the source is that of the package', () => {
    expect(VERSION).toBe(manifest.version);
  });
});
