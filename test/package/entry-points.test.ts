import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { entryPoints, manifest } from '../support/entry-points.ts';

const others = Object.keys(entryPoints).filter((name) => name !== 'index');

it.each(Object.entries(entryPoints))(
  'the entry point %s is an ES module for import, and for require where Node can; CommonJS else',
  (name, source) => {
    expect(existsSync(source)).toBe(true);
    const conditions = manifest.exports[name === 'index' ? '.' : `./${name}`];
    expect(conditions).toEqual({
      'module-sync': `./dist/${name}.js`,
      require: `./dist/cjs/${name}.cjs`,
      default: `./dist/${name}.js`,
    });
    // The first that holds is taken, so their order is part of the answer.
    expect(Object.keys(conditions ?? {})).toEqual(['module-sync', 'require', 'default']);
  },
);

it('the package has no other entry point', () => {
  expect(Object.keys(manifest.exports)).toEqual(
    expect.arrayContaining(['.', './package.json', ...others.map((name) => `./${name}`)]),
  );
  expect(Object.keys(manifest.exports)).toHaveLength(others.length + 2);
});

it('compilers that do not read exports find the declarations of each entry point', () => {
  expect(manifest.typesVersions['*']).toEqual(
    Object.fromEntries(others.map((name) => [name, [`./dist/cjs/${name}.d.cts`]])),
  );
});

it('no public type has private or protected members, so that what require gives fits what import gives', () => {
  const types = readFileSync('test/package/api.txt', 'utf8');
  expect(types).toContain('declare class RobotsClient');
  expect(types.match(/(?:^ +|[{;] )(?:#\w+|private|protected|(?:static )?readonly #).*$/gm)).toBe(null);
});
