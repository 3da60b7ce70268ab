import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { sourceOf } from '../support/entry-points.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Every import of the package in a TSDoc example, as [file, names, entry point]. */
const imports = readdirSync(`${root}src`, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .flatMap((file) =>
    Array.from(
      readFileSync(`${root}src/${file}`, 'utf8').matchAll(
        /^ \* import \{ ([^}]+) \} from 'canfetch(\/[\w-]+)?';$/gm,
      ),
      ([, names = '', entryPoint = '']) => [file, names.split(', '), entryPoint] as const,
    ),
  );

it('the examples of the package import something', () => {
  expect(imports.length).toBeGreaterThan(10);
});

it.each(imports)(
  'the example in %s imports %j from an entry point that exports it: canfetch%s',
  async (_file, names, entryPoint) => {
    const entryModule: object = await import(pathToFileURL(root + sourceOf(`canfetch${entryPoint}`)).href);
    const values = names.filter((name) => !name.startsWith('type '));
    expect(Object.keys(entryModule)).toEqual(expect.arrayContaining(values));
  },
);
