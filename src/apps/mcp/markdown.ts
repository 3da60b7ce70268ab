import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

/** Hostile pages can occupy the converter without end. */
const DEADLINE_MS = 15_000;
const MAX_MEMORY_MB = 256;

const { resolve } = createRequire(import.meta.url);

/** Path of `node-html-markdown`, an optional peer dependency; `undefined` when it is not installed. */
export function findConverter(): string | undefined {
  try {
    return resolve('node-html-markdown');
  } catch {
    return undefined;
  }
}

const CONVERT = `
const { parentPort, workerData: { library, html } } = require('node:worker_threads');
parentPort.postMessage(require(library).NodeHtmlMarkdown.translate(html));
`;

/**
 * Converts HTML to Markdown, in a thread that can be ended: the time that the library takes can grow with the square of the
 * page. `undefined` when it fails, or takes too long.
 */
export async function toMarkdown(
  html: string,
  library: string,
  deadlineMs: number = DEADLINE_MS,
): Promise<string | undefined> {
  const worker = new Worker(CONVERT, {
    eval: true,
    workerData: { library, html },
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  const late = setTimeout(() => void worker.terminate(), deadlineMs);
  try {
    return await new Promise<string | undefined>((done) => {
      worker.once('message', done);
      worker.once('error', () => done(undefined));
      worker.once('exit', () => done(undefined));
    });
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
