import { readFileSync } from 'node:fs';
import type { Handler } from '../reply.ts';

/** The files beside this module, which therefore stays a file of its own in the build. Read once, at import. */
const FILES = [
  ['style.css', 'text/css; charset=utf-8'],
  ['icon.svg', 'image/svg+xml'],
] as const;

/** Handlers of the files of the page, by path. */
export const assets: ReadonlyMap<string, Handler> = new Map(
  FILES.map(([name, type]): [string, Handler] => {
    const body = readFileSync(new URL(name, import.meta.url));
    // Stored, but asked for again each time: after an update, it must fit the page.
    const reply = { type, body, headers: { 'cache-control': 'no-cache' } };
    return [`/page/${name}`, () => reply];
  }),
);
