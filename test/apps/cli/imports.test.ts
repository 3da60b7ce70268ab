import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../src/apps/cli/commands.ts';

const IMPORT = /^(?:import|export)\s+(?!type\b)(?:[^'";]*?\sfrom\s+)?'([^']+)';/gm;

/** Every module that loading `entry` loads, by its static imports; libraries by name. */
async function loadedBy(entry: URL): Promise<Set<string>> {
  const seen = new Set<string>();
  const waiting = [entry.href];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (seen.has(next)) continue;
    seen.add(next);
    if (!next.startsWith('file:')) continue;
    const source = await readFile(new URL(next), 'utf8');
    for (const [, specifier = ''] of source.matchAll(IMPORT)) {
      waiting.push(
        specifier === '#platform'
          ? new URL('../../../src/core/fetch/platform/undici.ts', import.meta.url).href
          : specifier.startsWith('.')
            ? new URL(specifier, next).href
            : specifier,
      );
    }
  }
  return seen;
}

const libraries = (modules: Set<string>): string[] =>
  [...modules].filter((name) => !name.startsWith('file:') && !name.startsWith('node:'));

describe('the command', () => {
  it('loads no library before it has something to fetch, so that --help and --robots are quick', async () => {
    const modules = await loadedBy(new URL('../../../src/apps/cli/main.ts', import.meta.url));
    expect([...modules].filter((name) => name.endsWith('/cli/commands.ts'))).toHaveLength(1);
    expect(libraries(modules)).toEqual([]);
  });

  it('loads no command before it is run: its table is enough for --help', async () => {
    const modules = await loadedBy(new URL('../../../src/apps/cli/main.ts', import.meta.url));
    for (const { name } of commands)
      expect([...modules].filter((module) => module.endsWith(`/cli/${name}/run.ts`))).toEqual([]);
  });

  it.each(['lint', 'test'])('%s loads no library without a request', async (name) => {
    const modules = await loadedBy(new URL(`../../../src/apps/cli/${name}/run.ts`, import.meta.url));
    expect(libraries(modules)).toEqual([]);
  });

  it('checks options without a library', async () => {
    for (const file of [
      'core/client/settings.ts',
      'guards/shared/options.ts',
      'core/pacing/options.ts',
      'core/client/prefetch.ts',
    ]) {
      const modules = await loadedBy(new URL(`../../../src/${file}`, import.meta.url));
      expect(libraries(modules)).not.toContain('zod');
      expect(libraries(modules)).not.toContain('undici');
    }
  });

  it('the package loads no HTTP before a client has something to fetch, but then it does', async () => {
    const modules = await loadedBy(new URL('../../../src/index.ts', import.meta.url));
    expect(libraries(modules)).not.toContain('undici');
    // Not for `transport: { fetch }` either.
    const requests = await loadedBy(new URL('../../../src/core/fetch/index.ts', import.meta.url));
    expect(libraries(requests)).not.toContain('undici');
    const transport = await loadedBy(new URL('../../../src/core/fetch/undici-transport.ts', import.meta.url));
    expect(libraries(transport)).toContain('undici');
  });

  it('can be run as a program', async () => {
    const source = await readFile(new URL('../../../src/apps/cli/main.ts', import.meta.url), 'utf8');
    expect(source.startsWith('#!/usr/bin/env node\n')).toBe(true);
  });
});
