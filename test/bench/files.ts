import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Chance } from '../support/random.ts';

export interface BenchFile {
  readonly host: string;
  readonly bytes: Uint8Array;
  readonly text: string;
  /** URLs of the host, in WHATWG form. */
  readonly urls: readonly string[];
}

const corpus = new URL('../../../../shared/corpus/robots-4231.ndjson.gz', import.meta.url);

/** Real files where a checkout has them beside it, generated ones of their shape otherwise. */
export function benchFiles(): { readonly files: readonly BenchFile[]; readonly origin: string } {
  if (existsSync(corpus)) {
    const lines = gunzipSync(readFileSync(corpus)).toString('utf8').trim().split('\n');
    const files = lines.map((line) => JSON.parse(line) as { name: string; body: string });
    const usable = files.filter(({ name }) => /^[a-z][a-z0-9.-]*[a-z]$/.test(name));
    return {
      files: usable.map(({ name, body }) => benchFile(name, Uint8Array.from(Buffer.from(body, 'base64')))),
      origin: `${usable.length} real files`,
    };
  }
  const chance = new Chance(7);
  const files = Array.from({ length: 2_000 }, (_, index) => generated(`site${index}.example`, chance));
  return { files, origin: `${files.length} generated files of the real shape` };
}

/** Half of all real files have up to 6 rules, one in a hundred 643 and more; a fifth of the rules has a `*`. */
function generated(host: string, chance: Chance): BenchFile {
  const rules = Math.ceil(6 * (1 / (1 - chance.next() * 0.999) - 1) ** 0.75) + 1;
  const lines = ['User-agent: *'];
  for (let index = 0; index < rules; index++) {
    const path = `/${word(chance)}${chance.happens(0.6) ? `/${word(chance)}` : ''}${chance.happens(0.2) ? `*${word(chance)}=` : '/'}`;
    lines.push(`${chance.happens(0.13) ? 'Allow' : 'Disallow'}: ${path}`);
  }
  lines.push(`Sitemap: https://${host}/sitemap.xml`, '');
  return benchFile(host, Uint8Array.from(Buffer.from(lines.join('\n'))));
}

const word = (chance: Chance): string => chance.below(36 ** 6).toString(36);

const COMMON = [
  ...[
    '/',
    '/about/contact.html',
    '/products/shoes/red-sneakers-42?color=red&size=42',
    '/search?q=robots&page=2',
  ],
  ...[
    '/2024/05/12/some-long-article-title-here',
    '/wp-content/uploads/2020/01/image.jpg',
    '/en-us/help/faq#shipping',
  ],
  ...[
    '/category/home-garden/lighting/',
    '/user/profile/12345',
    '/assets/js/app.3f9a1c.js',
    '/feed/',
    '/blog/page/7/',
  ],
];

/** Some two dozen URLs of the site: half from its own rules, half what sites have anyway. */
function benchFile(host: string, bytes: Uint8Array): BenchFile {
  const text = Buffer.from(bytes).toString('utf8');
  const paths = [...text.matchAll(/^(?:dis)?allow:[ \t]*(\/[^\s#$]*)/gim)].map((match) =>
    (match[1] ?? '/').replaceAll('*', 'x'),
  );
  const own = COMMON.map((_, index) => paths[Math.floor((paths.length * index) / COMMON.length)]);
  const urls = COMMON.flatMap((path, index) => [path, own[index] ?? '/a']).flatMap((path) => {
    try {
      return [new URL(path, `https://${host}`).href];
    } catch {
      return [];
    }
  });
  return { host, bytes, text, urls };
}
