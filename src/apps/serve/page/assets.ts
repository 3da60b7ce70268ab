import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Exchange } from '../exchange.ts';
import type { Handler, Reply } from '../reply.ts';

/** Files of the page: the path that serves each, its media type, and its name beside this module. */
const FILES = [
  ['/', 'text/html', 'index.html'],
  ['/page/style.css', 'text/css', 'style.css'],
  ['/page/main.js', 'text/javascript', 'main.js'],
  ['/page/asking.js', 'text/javascript', 'asking.js'],
  ['/page/comparison.js', 'text/javascript', 'comparison.js'],
  ['/page/form.js', 'text/javascript', 'form.js'],
  ['/page/verdict.js', 'text/javascript', 'verdict.js'],
  ['/page/tables.js', 'text/javascript', 'tables.js'],
  ['/page/listing.js', 'text/javascript', 'listing.js'],
  ['/page/elements.js', 'text/javascript', 'elements.js'],
  ['/page/icon.svg', 'image/svg+xml', 'icon.svg'],
] as const;

/** The content codings of the files, the preferred one first. */
const CODINGS = ['br', 'gzip', 'identity'] as const;
type Coding = (typeof CODINGS)[number];

/**
 * Handlers of the files of the page, by path. The files are read and compressed once, at import; the build copies them
 * to `dist`. This module imports no other one: it stays a file of its own there, beside them.
 */
export const assets: ReadonlyMap<string, Handler> = new Map(
  FILES.map(([path, type, name]): [string, Handler] => {
    const file = readFileSync(new URL(name, import.meta.url));
    const handler = assetHandler(`${type}; charset=utf-8`, file);
    return [path, name === 'index.html' ? documentHandler(handler, file) : handler];
  }),
);

/** The handler of a module that exports these values. */
export function moduleHandler(values: Readonly<Record<string, unknown>>): FileHandler {
  const lines = Object.entries(values).map(
    ([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`,
  );
  return assetHandler('text/javascript; charset=utf-8', Buffer.from(lines.join('')));
}

type FileHandler = (exchange: Pick<Exchange, 'request'>) => Reply;

/**
 * Marks the page when the visitor typed its address or came from the page itself. Only then does it ask the question of its
 * address at once: a link on another site could otherwise make this machine send requests to any origin. Over plain HTTP,
 * browsers send `Sec-Fetch-Site` to this machine only.
 */
function documentHandler(foreign: FileHandler, file: Buffer): FileHandler {
  const marked = Buffer.from(file.toString().replace('<html', '<html data-brought-by="visitor"'));
  const own = assetHandler('text/html; charset=utf-8', marked);
  return (exchange) => {
    const site = exchange.request.headers['sec-fetch-site'];
    const reply = (site === 'none' || site === 'same-origin' ? own : foreign)(exchange);
    return { ...reply, headers: { ...reply.headers, vary: 'Accept-Encoding, Sec-Fetch-Site' } };
  };
}

function assetHandler(type: string, file: Buffer): FileHandler {
  const replies: Readonly<Record<Coding, Reply>> = {
    br: assetReply(
      type,
      'br',
      brotliCompressSync(file, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: file.length } }),
    ),
    gzip: assetReply(type, 'gzip', gzipSync(file, { level: 9 })),
    identity: assetReply(type, 'identity', file),
  };
  // The query is for the script of the page alone.
  return ({ request }) => {
    const { headers } = request;
    const reply = replies[preferredCoding(String(headers['accept-encoding'] ?? ''))];
    return isCurrent(headers['if-none-match'], reply) ? { ...reply, status: 304, body: '' } : reply;
  };
}

function assetReply(type: string, coding: Coding, body: Buffer): Reply {
  const hash = createHash('sha256').update(body).digest('base64url').slice(0, 22);
  return {
    type,
    body,
    headers: {
      // Stored, but asked for again each time: after an update, all files must be of one version.
      'cache-control': 'no-cache',
      etag: `"${hash}"`,
      vary: 'Accept-Encoding',
      ...(coding === 'identity' ? {} : { 'content-encoding': coding }),
    },
  };
}

/** RFC 9110 §12.5.3: a coding with the weight 0 is not acceptable, and `*` stands for codings that are not named. */
function preferredCoding(accepted: string): Coding {
  const weights = new Map(
    accepted.split(',').map((item): [string, number] => {
      const [name = '', weight = ''] = item.split(';');
      const value = /^\s*q=([\d.]+)\s*$/i.exec(weight)?.[1];
      return [name.trim().toLowerCase(), value === undefined ? 1 : Number(value)];
    }),
  );
  const accepts = (coding: Coding): boolean => (weights.get(coding) ?? weights.get('*') ?? 0) > 0;
  return CODINGS.find(accepts) ?? 'identity';
}

/** RFC 9110 §13.1.2: whether the requester already holds the entity tag of `reply`. */
function isCurrent(held: string | undefined, { headers }: Reply): boolean {
  if (held === undefined) return false;
  return (
    held.trim() === '*' || held.split(',').some((tag) => tag.trim().replace(/^W\//, '') === headers?.['etag'])
  );
}
