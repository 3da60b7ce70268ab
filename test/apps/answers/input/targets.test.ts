import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { ListPosition, targetLines } from '../../../../src/apps/answers/input/targets.ts';

it.each(['https://example.com/', 'https://ä.example/ж'])(
  'is the share of a file up to the line that was reached, however far ahead it was read: %s',
  async (url) => {
    const folder = await mkdtemp(join(tmpdir(), 'canfetch-position-'));
    const list = join(folder, 'urls.txt');
    await writeFile(list, `# urls\n${`${url}\n`.repeat(99)}`);
    const stream = (await open(list)).createReadStream({ highWaterMark: 500 });
    const position = new ListPosition(stream);
    expect([position.line, position.share]).toEqual([0, 0]);
    for await (const targets of targetLines(stream)) {
      for (const target of targets) {
        position.reach(target);
        expect(position.share).toBeCloseTo(position.line / 100, 1);
      }
    }
    expect([position.line, position.share]).toEqual([100, 1]);
    await rm(folder, { recursive: true });
  },
);

it('has no share of a pipe', async () => {
  const position = new ListPosition(new PassThrough());
  for await (const [target] of targetLines(Readable.from(['https://example.com/\n']))) {
    if (target !== undefined) position.reach(target);
  }
  expect([position.line, position.share]).toEqual([1, undefined]);
});
