/**
 * The page, as modules that export text. So plain `tsc` brings it into `dist` like everything else: there is no
 * step to forget, no file to find at run time, and from the source it works as from the package.
 */
import type { Reply } from '../handler.ts';
import { html, icon } from './html.ts';
import { fileScript } from './script-file.ts';
import { mainScript } from './script-main.ts';
import { resultScript } from './script-result.ts';
import { style } from './style.ts';

const reply = (type: string, body: string): Reply => ({
  type: `${type}; charset=utf-8`,
  body,
  headers: { 'cache-control': 'no-cache' },
});

/** Replies by path. */
export const assets: ReadonlyMap<string, Reply> = new Map([
  ['/', reply('text/html', html)],
  ['/page/style.css', reply('text/css', style)],
  ['/page/main.js', reply('text/javascript', mainScript)],
  ['/page/result.js', reply('text/javascript', resultScript)],
  ['/page/file.js', reply('text/javascript', fileScript)],
  ['/page/icon.svg', reply('image/svg+xml', icon)],
]);
