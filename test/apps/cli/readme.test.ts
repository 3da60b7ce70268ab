import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderForAll, siteForAll } from '../../support/opened.ts';
import { cli, masked } from './session.ts';

/** The `console` blocks of the README and of the command's guide: `$ cat FILE` shows a file that later blocks use, `$ canfetch …` what is printed. */
interface Step {
  readonly command: string;
  readonly output: string;
}

const guides = await Promise.all(
  ['../../../README.md', '../../../src/apps/cli/README.md'].map((path) =>
    readFile(new URL(path, import.meta.url), 'utf8'),
  ),
);
const steps = [...guides.join('\n').matchAll(/^```console\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.split(/^\$ /m).slice(1))
  .map((step): Step => {
    const [command = '', ...output] = step.split('\n');
    return { command, output: output.join('\n') };
  })
  .filter(({ command }) => /^(?:cat|canfetch) /.test(command));

const files = steps.filter(({ command }) => command.startsWith('cat '));
const runs = steps.filter(({ command }) => command.startsWith('canfetch '));
const SITE = 'https://example.com';

const folder = folderForAll();
const body = files.find(({ command }) => command === 'cat robots.txt')?.output ?? '';
const headers = { 'content-type': 'text/plain', 'cache-control': 'max-age=60' };
const site = await siteForAll({ '/robots.txt': { body, headers } });
for (const { command, output } of files) {
  await writeFile(join(folder, command.slice('cat '.length)), output.replaceAll(SITE, site.origin));
}

/** What is different each time. */
const settled = (output: string): string =>
  masked(output)
    .replaceAll(/fresh for \d+ \w+/g, 'fresh for SOME')
    .replaceAll(/\b\d{13}\b/g, 'MS');

describe('the guides', () => {
  it('shows every command', () => {
    const shown = new Set(runs.map(({ command }) => command.split(' ')[1]));
    expect([...shown].sort()).toEqual(['check', 'explain', 'lint', 'policy', 'prefetch', 'test']);
  });

  it.each(runs)('$command', async ({ command, output }) => {
    const [line = '', head] = command.split(' | head -');
    const argv = line
      .split(' ')
      .slice(1)
      .map((word) => (/^\w+\.txt$/.test(word) ? join(folder, word) : word.replace(SITE, site.origin)));
    const { stdout, stderr } = await cli(argv);
    expect(stderr).toBe('');
    const printed = stdout.replaceAll(`${folder}/`, '').replaceAll(site.origin, SITE);
    const lines = head === undefined ? printed : `${printed.split('\n').slice(0, Number(head)).join('\n')}\n`;
    expect(settled(lines)).toBe(settled(output));
  });
});
