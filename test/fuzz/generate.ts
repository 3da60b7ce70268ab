import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import type { Chance } from '../support/random.ts';

/** One answer of a server, as it would come off the wire. */
export interface FuzzAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: ReadonlyMap<string, string>;
  /** As sent: coded, and maybe damaged. */
  readonly chunks: readonly Uint8Array[];
  /** The connection breaks after the last chunk. */
  readonly breaks: boolean;
}

/** Real files, where there are any, to start from. */
export type Corpus = readonly Uint8Array[];

export function anyAnswer(chance: Chance, corpus: Corpus): FuzzAnswer {
  const status = chance.happens(0.6)
    ? chance.pick([200, 200, 200, 200, 203, 204, 206, 299])
    : chance.happens(0.5)
      ? chance.pick([301, 302, 303, 307, 308, 300, 304, 305, 401, 403, 404, 410, 429, 500, 503, 600, 999])
      : 100 + chance.below(900);
  const fields = anyFields(chance);
  const coding = chance.happens(0.7) ? undefined : anyCoding(chance);
  if (coding !== undefined) fields.set('content-encoding', coding);
  const coded = chance.happens(0.9)
    ? encode(anyBody(chance, corpus), coding ?? '')
    : damaged(chance, encode(anyBody(chance, corpus), coding ?? ''));
  return { status, fields, chunks: cut(chance, coded), breaks: chance.happens(0.05) };
}

function anyCoding(chance: Chance): string {
  const known = ['gzip', 'x-gzip', 'GZIP', 'deflate', 'br', 'identity', ''];
  if (chance.happens(0.1))
    return chance.pick(['zstd', 'gzip;q=1', 'gzip, gzip, gzip, gzip, gzip', noise(chance, 20)]);
  return Array.from({ length: 1 + chance.below(3) }, () => chance.pick(known)).join(
    chance.pick([',', ', ', ' ,']),
  );
}

/** What an honest server that names these codings would send; a dishonest one, where they are none. */
function encode(body: Uint8Array, field: string): Uint8Array {
  let coded = body;
  for (const coding of field.split(',')) {
    const name = coding.trim().toLowerCase();
    if (name === 'gzip' || name === 'x-gzip') coded = gzipSync(coded, { level: 1 });
    else if (name === 'br') coded = brotliCompressSync(coded, { params: { 1: 1 } });
    else if (name === 'deflate') coded = body.length % 2 === 0 ? deflateSync(coded) : deflateRawSync(coded);
  }
  return coded;
}

/** What sort of thing each field holds: its words, in some order, or noise. */
const FIELDS: readonly (readonly [name: string, words: readonly string[]])[] = [
  ['cache-control', 'max-age=|60|99999999999|-1|no-store|s-maxage="5"|,| |no-cache="|"|='.split('|')],
  ['expires', '0|-1|Thu, 01 Jan 2026 00:00:00 GMT|Thursday, 01-Jan-26 00:00:00 GMT|tomorrow'.split('|')],
  ['date', 'Thu, 01 Jan 2026 00:00:00 GMT|Thu Jan  1 00:00:00 2026|Thu, 31 Feb 2026 00:00:00 GMT'.split('|')],
  ['age', '0|5|999999999999999999|-5|5, 6'.split('|')],
  ['etag', '"v1"|W/"v1"|*|"'.split('|')],
  ['last-modified', ['Thu, 01 Jan 2026 00:00:00 GMT', 'never']],
  ['content-type', 'text/plain|text/html|; charset=utf-16|TEXT/HTML;;|application/octet-stream'.split('|')],
  ['retry-after', '5|0|-1|99999999999999999999|1e9|Thu, 01 Jan 2099 00:00:00 GMT|later'.split('|')],
  ['location', '/|/robots.txt|https://|fuzz.example|/r|?|#|..|:80|ftp:|//|%2e|[::1]|@|\\'.split('|')],
  ['cf-mitigated', ['challenge', 'block']],
  ['x-amzn-waf-action', ['captcha']],
];

function anyFields(chance: Chance): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [name, words] of FIELDS) {
    if (!chance.happens(name === 'location' ? 0.8 : 0.2)) continue;
    fields.set(name, chance.happens(0.1) ? noise(chance, 2_000) : soup(chance, words, 5));
  }
  return fields;
}

const soup = (chance: Chance, words: readonly string[], most: number): string =>
  Array.from({ length: 1 + chance.below(most) }, () => chance.pick(words)).join('');

/** Characters of one byte each. */
const noise = (chance: Chance, most: number): string =>
  Array.from({ length: chance.below(most) }, () => String.fromCharCode(chance.below(256))).join('');

export function anyBody(chance: Chance, corpus: Corpus): Uint8Array {
  const kind = chance.next();
  if (corpus.length > 0 && kind < 0.5) return mutated(chance, corpus);
  if (kind < 0.9) return Buffer.from(anyFile(chance), chance.pick(['utf8', 'utf8', 'latin1', 'utf16le']));
  if (kind < 0.95) return Buffer.from(noise(chance, 3_000), 'latin1');
  // Just about the limit, and above.
  const line = Buffer.from(`${anyFile(chance).slice(0, 200)}\n`);
  return Buffer.alloc(511_900 + chance.below(300) + (chance.happens(0.3) ? 90_000 : 0), line);
}

const KEYS =
  'User-agent|user-agent|USER-AGENT|useragent|User agent|ua|Allow|allow|Disallow|disallow|dissallow|disallow-x|Sitemap|Crawl-delay|Host|Noindex|Content-Usage|Content-Signal|License|Request-rate|Visit-time|Clean-param|| |#|x'.split(
    '|',
  );
const AGENTS = '*|ExampleBot|examplebot|ExampleBot/1.0|OtherBot|Example|* x|a, ExampleBot|ツ|"*"'.split('|');
const PATH_PARTS = [
  ...'/|/a|/b|index.htm|*|**|$|?|=|&|%61|%2F|%2f|%2A|%24|%|%z|é| |#|//|..|;|\t|\u00a0|😀|\0'.split('|'),
  'x'.repeat(50),
];
const VALUES =
  '1.5|-1|NaN|1e400|https://fuzz.example/sitemap.xml|/x train-ai=n|search=yes, ai-train=no|a=y;;|0600-0845'.split(
    '|',
  );
const ENDS = ['\n', '\n', '\n', '\r\n', '\r', '\n\n', '\u2028', '\v'];

function anyFile(chance: Chance): string {
  const lines = Array.from({ length: chance.below(40) }, () => {
    const key = chance.pick(KEYS);
    const isAgent = /agent|ua/i.test(key);
    const isPath = /allow|index|^x$/i.test(key);
    const value = isAgent
      ? chance.pick(AGENTS)
      : isPath
        ? soup(chance, PATH_PARTS, 8)
        : chance.pick([...VALUES, soup(chance, PATH_PARTS, 4)]);
    return `${chance.pick(['', '', '', ' ', '\t'])}${key}${chance.pick([':', ':', ': ', ' : ', ' ', ''])}${value}${chance.pick(ENDS)}`;
  });
  return chance.pick(['', '', '', '\uFEFF', '<html>', '<!-- x -->\n']) + lines.join('');
}

/** A real file, changed in a few places. */
function mutated(chance: Chance, corpus: Corpus): Uint8Array {
  let bytes = Buffer.from(chance.pick(corpus));
  for (let changes = chance.below(6); changes > 0; changes--) {
    const at = chance.below(bytes.length + 1);
    const to = Math.min(bytes.length, at + chance.below(200));
    switch (chance.below(6)) {
      case 0:
        if (at < bytes.length) bytes[at] = chance.below(256);
        break;
      case 1:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)]);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)]);
        break;
      case 3:
        bytes = Buffer.concat([
          bytes.subarray(0, at),
          chance.pick(corpus).subarray(0, 400),
          bytes.subarray(at),
        ]);
        break;
      case 4:
        bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(anyFile(chance)), bytes.subarray(at)]);
        break;
      default:
        bytes = Buffer.from(bytes.toString('latin1').replaceAll('\n', chance.pick(ENDS)), 'latin1');
    }
  }
  return bytes.subarray(0, 700_000);
}

function damaged(chance: Chance, coded: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(coded);
  if (copy.length > 0 && chance.happens(0.5)) copy[chance.below(copy.length)] = chance.below(256);
  return copy.subarray(0, copy.length - chance.below(Math.min(copy.length, 30) + 1));
}

function cut(chance: Chance, bytes: Uint8Array): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = chance.happens(0.1) ? 1 + chance.below(3) : 1 + chance.below(70_000);
    chunks.push(bytes.subarray(at, at + size));
    at += size;
  }
  return chunks;
}

/** Targets and agents to ask about. */
export const anyTarget = (chance: Chance): string => {
  const target = `/${soup(chance, PATH_PARTS, 6)}`;
  return chance.happens(0.3) ? new URL(`https://fuzz.example${target}`).href : target;
};
export const anyAgent = (chance: Chance): string =>
  chance.pick(['ExampleBot', 'EXAMPLEBOT', 'OtherBot', '*', 'Mozilla/5.0 (compatible; ExampleBot/1.0; +x)']);

const PAGE_WORDS =
  'noindex|none|all|max-snippet|max-snippet:|unavailable_after:|unavailable_after|25 Jun 2010 15:00:00 PST|Friday, 25-Jun-10|2010-06-25T15:00:00+02:00|-1|50|0|max-image-preview: large|examplebot|examplebot:|otherbot:|noai|indexifembedded|:|,|, ,|\u00a0|\0|\ud800|99999999999999999999'.split(
    '|',
  );

/** A line of an X-Robots-Tag header field, more or less. */
export const anyPageLine = (chance: Chance): string =>
  Array.from({ length: chance.below(12) }, () => chance.pick(PAGE_WORDS)).join(
    chance.pick([', ', ',', ' ', '', ': ']),
  );
