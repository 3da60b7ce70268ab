import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type { MetaTag } from '../../core/rules/index.ts';

/** Hostile pages can occupy the converter without end. */
const READING_MS = 15_000;
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

/** What is read of an HTML page. */
export interface HtmlPage {
  /** The page as Markdown: its links are absolute, and its title is its first heading. */
  readonly markdown: string;
  readonly meta: readonly MetaTag[];
}

/**
 * The work of the thread: `node-html-markdown` resolves no links, and drops titles and meta tags. It calls these hooks in the
 * order of the page, so that `base` comes before the links.
 */
const READ = `
const { parentPort, workerData: { library, html, url } } = require('node:worker_threads');
const { NodeHtmlMarkdown, TranslatorCollection } = require(library);
const converter = new NodeHtmlMarkdown();
const meta = [], headings = new Set();
let base, title;

const words = (node) => node.textContent.replace(/\\s+/g, ' ').trim();
const absolute = (address) => URL.canParse(address, base ?? url) ? new URL(address, base ?? url).href : address;
function resolveLink(node, attribute) {
  const address = node.getAttribute(attribute);
  if (address && !URL.canParse(address)) node.setAttribute(attribute, absolute(address));
}
function readBase(node) {
  const stated = absolute(node.getAttribute('href') ?? '');
  if (/^https?:/i.test(stated)) base ??= stated;
}
function readTitle(node) {
  if (node.closest('svg') !== null) return {};
  title ??= words(node);
  return { ignore: true };
}
const hooks = {
  head: () => ({}),
  base: readBase,
  meta: (node) => void meta.push({ name: node.getAttribute('name'), content: node.getAttribute('content') }),
  title: readTitle,
  h1: (node) => void headings.add(words(node)),
  a: (node) => resolveLink(node, 'href'),
  img: (node) => resolveLink(node, 'src'),
};
for (const collection of Object.values(converter)) {
  if (!(collection instanceof TranslatorCollection)) continue;
  for (const [name, hook] of Object.entries(hooks)) {
    const own = collection.get(name);
    if (own === undefined && collection !== converter.translators) continue;
    const hooked = (context) => hook(context.node) ?? (typeof own === 'function' ? own(context) : own ?? {});
    collection.set(name, Object.assign(hooked, { base: own?.base }));
  }
}
const text = converter.translate(html);
const heading = title && !headings.has(title)
  ? NodeHtmlMarkdown.translate('<h1>' + title.replaceAll('&', '&amp;').replaceAll('<', '&lt;') + '</h1>') + '\\n\\n'
  : '';
parentPort.postMessage({ markdown: heading + text, meta });
`;

/** How a page is to be read. */
interface HtmlOptions {
  /** Path of `node-html-markdown`. */
  readonly library: string;
  /** The URL of the page, which its links are relative to. */
  readonly url: string;
  readonly deadlineMs?: number;
}

/**
 * Reads HTML, in a thread that can be ended: the time that the library takes can grow with the square of the page.
 * `undefined` when it fails, or takes too long.
 */
export async function readHtml(
  html: string,
  { deadlineMs = READING_MS, ...page }: HtmlOptions,
): Promise<HtmlPage | undefined> {
  const worker = new Worker(READ, {
    eval: true,
    workerData: { html, ...page },
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  const late = setTimeout(() => void worker.terminate(), deadlineMs);
  try {
    return await new Promise<HtmlPage | undefined>((done) => {
      worker.once('message', done);
      worker.once('error', () => done(undefined));
      worker.once('exit', () => done(undefined));
    });
  } finally {
    clearTimeout(late);
    await worker.terminate();
  }
}
