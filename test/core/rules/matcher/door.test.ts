import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const src = new URL('../../../../src/', import.meta.url);

describe('the matcher', () => {
  it('is imported through its door alone, which has three functions', async () => {
    const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .map((file) => file.replaceAll('\\', '/'))
      .filter((file) => file.endsWith('.ts') && !file.startsWith('rules/matcher/'));
    const imported = files.flatMap((file) =>
      [...readFileSync(new URL(file, src), 'utf8').matchAll(/from '([^']*\/matcher\/[^']*)'/g)].map(
        ([, from]) => from,
      ),
    );
    expect(imported.length).toBeGreaterThan(2);
    expect(imported.filter((from) => !from!.endsWith('/matcher/index.ts'))).toEqual([]);
    const door = await import('../../../../src/core/rules/matcher/index.ts');
    const functions = Object.entries(door).filter(([, value]) => typeof value === 'function');
    expect(new Set(functions.map(([name]) => name))).toEqual(
      new Set(['compile', 'matchingRules', 'matchOnce']),
    );
  });
});
