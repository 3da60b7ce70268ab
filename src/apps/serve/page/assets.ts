import { readFileSync } from 'node:fs';
import type { Handler } from '../reply.ts';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="5" y="2" width="22" height="28" rx="3" fill="#1f4f8f"/>
<g fill="#fff"><rect x="9" y="8" width="14" height="2" opacity=".55"/><rect x="9" y="14" width="14" height="4"/><rect x="9" y="22" width="10" height="2" opacity=".55"/></g>
</svg>`;

/** Read once, at import, from beside this module, which therefore stays a file of its own in the build. */
const STYLE = readFileSync(new URL('style.css', import.meta.url));

/** Handlers of the files of the page, by path. */
export const assets: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ['/page/style.css', () => ({ type: 'text/css; charset=utf-8', body: STYLE })],
  ['/page/icon.svg', () => ({ type: 'image/svg+xml', body: ICON })],
]);
