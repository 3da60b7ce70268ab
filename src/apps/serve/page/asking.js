// @ts-check
// Asks the service, and shows how long that takes.
import { button, byId, element } from './elements.js';
import { texts } from './texts.js';

const status = byId('status');
const progress = byId('progress');
const result = byId('result');
/** @type {AbortController | undefined} */
let asking;

export function say(text, kind = '') {
  status.className = kind;
  status.textContent = text;
}

export function showError(error) {
  if (error.name === 'AbortError') return;
  say(error.message, 'error');
  result.hidden = true;
}

/** Shows a result. */
export function put(...children) {
  result.replaceChildren(...children);
  result.hidden = false;
}

/** Cancels the current question, and removes the last result. */
export function clear() {
  asking?.abort();
  document.title = texts.plainTitle;
  result.hidden = true;
  result.replaceChildren();
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
  const tick = () =>
    (elapsed.textContent = texts.elapsed(Math.round((performance.now() - startedAt) / 1000)) + note);
  const timer = setInterval(tick, 1000);
  const cancel = button(texts.cancel, () => {
    mine.abort();
    say(texts.cancelled);
  });
  progress.replaceChildren(elapsed, cancel);
  tick();
  try {
    const response = await fetch(path, { ...init, signal: mine.signal });
    const body = await (response.ok ? read(response, (told) => (note = told)) : response.json()).catch(
      (error) => {
        if (error.name === 'AbortError') throw error;
        throw new Error(texts.noAnswer(response.status));
      },
    );
    if (!response.ok) throw new Error(texts.problems[body.code] || body.detail);
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
    tell(' · ' + texts.answered(found.length, count));
  }
  if (found.length !== count) throw new Error();
  return found;
};
