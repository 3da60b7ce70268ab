import { readFileSync } from 'node:fs';
import type { Exchange } from '../exchange.ts';
import type { Handler, Reply } from '../reply.ts';

/** Files of the page: the path that serves each, its media type, and its name beside this module. */
const FILES = [
  ['/', 'text/html', 'index.html'],
  ['/page/style.css', 'text/css', 'style.css'],
  ['/page/main.js', 'text/javascript', 'main.js'],
  ['/page/asking.js', 'text/javascript', 'asking.js'],
  ['/page/form.js', 'text/javascript', 'form.js'],
  ['/page/verdict.js', 'text/javascript', 'verdict.js'],
  ['/page/tables.js', 'text/javascript', 'tables.js'],
  ['/page/listing.js', 'text/javascript', 'listing.js'],
  ['/page/elements.js', 'text/javascript', 'elements.js'],
  ['/page/icon.svg', 'image/svg+xml', 'icon.svg'],
] as const;

/**
 * Handlers of the files of the page, by path. The files are read once, at import; the build copies them
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
    return { ...reply, headers: { ...reply.headers, vary: 'Sec-Fetch-Site' } };
  };
}

function assetHandler(type: string, body: Buffer): FileHandler {
  // Stored, but asked for again each time: after an update, all files must be of one version.
  const reply: Reply = { type, body, headers: { 'cache-control': 'no-cache' } };
  // The query is for the script of the page alone.
  return () => reply;
}
