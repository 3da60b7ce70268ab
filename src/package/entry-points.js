/** What package.json says of the package: its entry points are those that `typedocOptions` lists. */
import { readFileSync } from 'node:fs';

const url = new URL('../../package.json', import.meta.url);
export const manifest = JSON.parse(readFileSync(url, 'utf8'));

/** `src/guards/got/got.ts` is `got`, `src/core/rules/index.ts` is `rules`, and `src/index.ts` is `index`. */
const nameOf = (path) => /([^/]+?)(?:(?<!src)\/index)?\.ts$/.exec(path)[1];

/**
 * The source of each entry point, by its name.
 *
 * @type {Readonly<Record<string, string>>}
 */
export const entryPoints = Object.fromEntries(
  manifest.typedocOptions.entryPoints.map((path) => [nameOf(path), path]),
);
