// @ts-check
// Asks the service, shows how long that takes, and keeps the question in the address of the page.
import { button, byId, element } from './elements.js';

const status = byId('status');
const progress = byId('progress');
const result = byId('result');
const plainTitle = document.title;
/** @type {AbortController | undefined} */
let asking;

export function say(text, kind = '') {
  status.className = kind;
  status.textContent = text;
}

/** Shows a result. Children that are empty are left out. */
export function put(...children) {
  result.replaceChildren(...children.filter((child) => child));
  result.hidden = false;
}

/** Names a result in the title of the window. The page shows it; the status line only announces it to screen readers. */
export function announce(verdict, where, said = verdict) {
  document.title = verdict + ': ' + where + ' · canfetch';
  say(said, 'hidden');
}

/** Cancels the current question, and removes the last result. */
export function clear() {
  asking?.abort();
  document.title = plainTitle;
  result.hidden = true;
  result.replaceChildren();
}

const PROBLEMS = {
  ERR_ROBOTS_BUSY: 'The service is busy. Try again in a moment.',
  ERR_ROBOTS_TOO_LARGE: 'That is too much for one request. Use shorter files or fewer URLs.',
};

/** The error for a problem of the service. */
export function problemError(code, detail) {
  return Object.assign(new Error(PROBLEMS[code] || detail), { code, detail });
}

/**
 * Asks a question, whose progress is shown and can be cancelled.
 * @param {string} text Shown meanwhile.
 * @param {string} path
 * @param {RequestInit} [init]
 * @param {(response: Response, tell: (note: string) => void) => Promise<any>} [read]
 */
export async function ask(text, path, init, read = (response) => response.json()) {
  clear();
  const mine = new AbortController();
  asking = mine;
  say(text);
  const startedAt = performance.now();
  // Hidden from screen readers, which would read every second.
  const elapsed = element('span', { 'aria-hidden': 'true' });
  let note = '';
  const tick = () => {
    elapsed.textContent = Math.round((performance.now() - startedAt) / 1000) + ' s' + note;
  };
  const timer = setInterval(tick, 1000);
  const cancel = button('Cancel', () => {
    mine.abort();
    say('Cancelled.');
  });
  progress.replaceChildren(elapsed, cancel);
  tick();
  try {
    const response = await fetch(path, { ...init, signal: mine.signal });
    const body = await (response.ok ? read(response, (told) => (note = told)) : response.json()).catch(
      (error) => {
        if (error.name === 'AbortError') throw error;
        throw new Error('Expected a response from the service, got status ' + response.status);
      },
    );
    if (!response.ok) throw problemError(body.code, body.detail);
    mine.signal.throwIfAborted();
    return body;
  } finally {
    clearInterval(timer);
    if (asking === mine) progress.replaceChildren();
  }
}

/** Asks with a body of JSON. */
export function askAbout(text, path, body) {
  const headers = { 'content-type': 'application/json' };
  return ask(text, path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** Reads `count` lines of NDJSON. */
export const readLines = (count) => async (response, tell) => {
  const found = [];
  let rest = '';
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const lines = (rest + chunk.value).split('\n');
    rest = lines.pop() || '';
    for (const line of lines) found.push(JSON.parse(line));
    tell(' · ' + found.length.toLocaleString('en') + ' of ' + count.toLocaleString('en'));
  }
  if (found.length !== count) throw new Error();
  return found;
};

/**
 * A question about one URL is in the query: `?url=…&agent=…&compare=…&purpose=…`. Any other is in the fragment, which
 * browsers do not send: `#try=` and compressed JSON in base64url.
 *
 * @typedef {object} Question
 * @property {'site' | 'list' | 'text'} mode
 * @property {string} [url]
 * @property {string[]} [agent]
 * @property {string[]} [compare] Absent for the list that the page suggests.
 * @property {string} [robots]
 * @property {string[]} [urls]
 * @property {string[]} [agents]
 * @property {string} [purpose]
 */

const FRAGMENT = '#try=';
/** Twice the size limit of a robots.txt. Without a limit, the text of a short link could fill the memory. */
const MAX_BYTES = 1_048_576;
/** More than the longest file of a real site has. Without a limit, the lines of a short link could stall the page. */
const MAX_LINES = 50_000;

class TooLong extends Error {
  constructor() {
    super('The link holds more than the page reads from links. Open the file instead.');
  }
}

/** The path, query and fragment for a question. @param {Question} question */
export async function linkOf(question) {
  if (question.mode !== 'site') return '/' + FRAGMENT + (await packed(JSON.stringify(question)));
  const query = new URLSearchParams({ url: question.url || '' });
  for (const name of question.agent || []) query.append('agent', name);
  for (const name of question.compare || []) query.append('compare', name);
  // An empty list is not the list that the page suggests.
  if (question.compare && question.compare.length === 0) query.append('compare', '');
  if (question.purpose) query.set('purpose', question.purpose);
  return '/?' + query;
}

/**
 * The question that an address holds; `undefined` when it holds none.
 * @param {{ readonly search: string, readonly hash: string }} address
 * @returns {Promise<Question | undefined>}
 */
export async function questionOf({ search, hash }) {
  if (hash.startsWith(FRAGMENT)) {
    try {
      return checked(JSON.parse(await unpacked(hash.slice(FRAGMENT.length))));
    } catch (error) {
      throw error instanceof TooLong ? error : new Error('The link is damaged and cannot be read');
    }
  }
  const query = new URLSearchParams(search);
  if (!query.has('url')) return undefined;
  return {
    mode: 'site',
    url: query.get('url') || '',
    agent: query.getAll('agent'),
    ...(query.has('compare') ? { compare: query.getAll('compare').filter((each) => each !== '') } : {}),
    purpose: query.get('purpose') || '',
  };
}

/** Takes the fields that have the right type: a link can hold anything. @returns {Question} */
function checked(found) {
  const { mode, robots, urls, agents, purpose } = Object(found);
  const text = (value) => (typeof value === 'string' ? value : '');
  const strings = (list) => (Array.isArray(list) ? list.filter((each) => typeof each === 'string') : []);
  const all = [robots].map(text).concat(strings(urls), strings(agents));
  const lines = all.map((each) => each.split(/\r\n?|\n/).length);
  if (lines.reduce((sum, count) => sum + count, 0) > MAX_LINES) throw new TooLong();
  const list = { urls: strings(urls), agents: strings(agents), purpose: text(purpose) };
  return mode === 'list' ? { mode, ...list } : { mode: 'text', robots: text(robots), ...list };
}

async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

async function unpacked(text) {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw')).getReader();
  const chunks = [];
  let size = 0;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    size += chunk.value.length;
    if (size > MAX_BYTES) {
      await reader.cancel();
      throw new TooLong();
    }
    chunks.push(chunk.value);
  }
  return new Blob(chunks).text();
}
