import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { listShare } from '../../../src/report/input/index.ts';

it('is the share of the octets of a file that were read, and unknown for a pipe', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'canfetch-share-'));
  const list = join(folder, 'urls.txt');
  await writeFile(list, 'x'.repeat(1_000));
  const stream = (await open(list)).createReadStream({ highWaterMark: 250 });
  const share = listShare(stream);
  expect(share()).toBe(0);
  const shares: unknown[] = [];
  for await (const chunk of stream) if (chunk) shares.push(share());
  expect(shares.at(-1)).toBe(1);
  expect(listShare(new PassThrough())()).toBeUndefined();
  await rm(folder, { recursive: true });
});
