import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { type MetaTag, pageDirectives, type PageDirectiveSource } from '../../core/rules/index.ts';
import type { HeaderFields } from '../../core/base/index.ts';
import type { Purpose } from '../../core/decision/index.ts';

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
  /** Ends the work when it aborts. */
  readonly ending?: AbortSignal;
}

/**
 * Reads HTML, in a thread that can be ended: the time that the library takes can grow with the square of the page.
 * `undefined` when it fails, or takes too long.
 */
export async function readHtml(
  html: string,
  { deadlineMs = READING_MS, ending, ...page }: HtmlOptions,
): Promise<HtmlPage | undefined> {
  const worker = new Worker(READ, {
    eval: true,
    workerData: { html, ...page },
    resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
  });
  const end = (): void => void worker.terminate();
  const late = setTimeout(end, deadlineMs);
  ending?.addEventListener('abort', end);
  try {
    return await new Promise<HtmlPage | undefined>((done) => {
      worker.once('message', done);
      worker.once('error', () => done(undefined));
      worker.once('exit', () => done(undefined));
    });
  } finally {
    clearTimeout(late);
    ending?.removeEventListener('abort', end);
    await worker.terminate();
  }
}

/** What is known of a page when it is asked what it says of itself. */
interface StatedPage {
  readonly purpose: Purpose;
  /** The name that directives for one agent are compared with. */
  readonly agent: string;
  readonly headers: HeaderFields;
  /** Absent when the page is HTML that could not be read. */
  readonly meta: readonly MetaTag[] | undefined;
}

/**
 * Says what a page states of itself against its use: `noai`, `tdm-reservation`, and for search `noindex`. These are reported
 * and not enforced, since no standard says which purposes they mean.
 */
export function statementNote({ purpose, agent, headers, meta }: StatedPage): string | undefined {
  const { sources } = pageDirectives({ headers, agent, ...(meta && { meta }) });
  const against = sources.filter((source) => isAgainst(source, purpose)).map(inWords);
  const unread = meta === undefined ? ' Its meta tags could not be read.' : '';
  if (against.length === 0) return unread.trim() || undefined;
  return (
    `The page itself says ${[...new Set(against)].join(' and ')}. ` +
    `This is noted, not refused: decide whether it means your purpose, ${purpose}.${unread}`
  );
}

function isAgainst({ directive, value, understood }: PageDirectiveSource, purpose: Purpose): boolean {
  if (!understood) return false;
  if (directive === 'tdm-reservation') return value === '1';
  return directive === 'noai' || (purpose === 'search' && (directive === 'noindex' || directive === 'none'));
}

function inWords({ from, field, directive }: PageDirectiveSource): string {
  const what = directive === 'tdm-reservation' ? `"${directive}: 1"` : `"${directive}"`;
  if (from === 'meta') return `${what} (meta tag ${field})`;
  return `${what} (header field ${field === 'x-robots-tag' ? 'X-Robots-Tag' : field})`;
}
