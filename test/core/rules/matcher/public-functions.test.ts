import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const src = new URL('../../../../src/', import.meta.url);

describe('the matcher', () => {
  it('is imported only through its `index.ts`, which has three functions', async () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !file.startsWith('core/rules/matcher/'));
    const imported = files.flatMap((file) =>
      [...readFileSync(new URL(file, src), 'utf8').matchAll(/from '([^']*\/matcher\/[^']*)'/g)].map(
        ([, from]) => from,
      ),
    );
    expect(imported.length).toBeGreaterThan(2);
    expect(imported.filter((from) => !from!.endsWith('/matcher/index.ts'))).toEqual([]);
    const index = await import('../../../../src/core/rules/matcher/index.ts');
    const functions = Object.entries(index).filter(([, value]) => typeof value === 'function');
    expect(new Set(functions.map(([name]) => name))).toEqual(
      new Set(['compile', 'matchingRules', 'matchOnce']),
    );
  });
});
