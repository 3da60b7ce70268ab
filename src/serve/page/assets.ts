import { readFileSync } from 'node:fs';
import type { Reply } from '../reply.ts';

/** Files of the page: the path that serves each, its media type, and its name beside this module. */
const FILES = [
  ['/', 'text/html', 'index.html'],
  ['/page/style.css', 'text/css', 'style.css'],
  ['/page/main.js', 'text/javascript', 'main.js'],
  ['/page/result.js', 'text/javascript', 'result.js'],
  ['/page/file.js', 'text/javascript', 'file.js'],
  ['/page/icon.svg', 'image/svg+xml', 'icon.svg'],
] as const;

/** Replies with the files of the page, by path. They are read once, at import; the build copies them to `dist`. */
export const assets: ReadonlyMap<string, Reply> = new Map(
  FILES.map(([path, type, name]) => [
    path,
    {
      type: `${type}; charset=utf-8`,
      body: readFileSync(new URL(name, import.meta.url), 'utf8'),
      headers: { 'cache-control': 'no-cache' },
    },
  ]),
);
