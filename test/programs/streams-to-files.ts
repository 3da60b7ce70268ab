import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { guardFetch } from '../../src/index.ts';
import type { Crawl } from './crawl.ts';

/** Downloads pages to files, all at once. */
export default async function streamsToFiles({ robots, pacing, urls, ended }: Crawl): Promise<void> {
  const get = guardFetch(fetch, robots, { pacing });
  const folder = await mkdtemp(join(tmpdir(), 'pages-'));
  const download = async (url: string, index: number): Promise<void> => {
    const response = await get(url);
    const file = createWriteStream(join(folder, `${index}.html`));
    await pipeline(Readable.fromWeb(response.body as never), file);
  };
  await Promise.all(
    urls.map((url, index) =>
      download(url, index).then(
        () => ended(url),
        (error: unknown) => ended(url, error),
      ),
    ),
  );
  await rm(folder, { recursive: true });
}
