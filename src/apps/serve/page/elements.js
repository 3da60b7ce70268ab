// @ts-check
// Makes elements. Foreign text is inserted as text, never as markup.

/**
 * The element of index.html with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error('Expected an element #' + id + ' in index.html');
  return found;
}

/**
 * Makes an element, whose classes follow its name: `p.big`. Objects are its attributes; elements, strings and lists of these
 * are its children; all else is left out.
 */
export function element(tag, ...parts) {
  const [name, ...classes] = tag.split('.');
  const made = document.createElement(name);
  made.classList.add(...classes);
  for (const part of parts.flat()) {
    if (part instanceof Node || typeof part === 'string') made.append(part);
    else for (const [key, value] of Object.entries(part || {})) made.setAttribute(key, value);
  }
  return made;
}

/** Characters that are invisible, or that change the direction of text. */
const INVISIBLE =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

const numbered = (character) => 'U+' + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

/** Splits foreign text into nodes. Invisible characters are shown as code points, such as `U+200B`. */
export function visible(text) {
  if (!INVISIBLE.test(text)) return [text];
  const parts = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (!INVISIBLE.test(text[at])) continue;
    const code = String(text.charCodeAt(at));
    parts.push(text.slice(start, at), element('span.invisible', { 'data-code': code }, numbered(text[at])));
    start = at + 1;
  }
  return [...parts, text.slice(start)];
}

/** The text of a copy of nodes that `visible` made, with the characters that they stand for. */
export function originalText(copied) {
  for (const shown of copied.querySelectorAll('.invisible')) {
    shown.replaceWith(String.fromCharCode(Number(shown.dataset.code)));
  }
  return copied.textContent;
}

/** Splits a sentence into nodes as `visible` does, with code for what stands between backticks. */
export function prose(text) {
  return text
    .split('`')
    .flatMap((part, index, { length }) =>
      index % 2 === 0 || index === length - 1
        ? visible(index % 2 === 0 ? part : '`' + part)
        : element('code', visible(part)),
    );
}

/** Does the same as `visible`, but returns a string, for labels. */
export function plain(text) {
  return Array.from(text, (character) => (INVISIBLE.test(character) ? numbered(character) : character)).join(
    '',
  );
}

/** Wraps foreign text in `bdi`, so that its direction does not affect the text around it. */
export function foreign(text) {
  return element('bdi.foreign', visible(text.length > 300 ? text.slice(0, 300) + '…' : text));
}

/** A button that calls `onClick`. */
export function button(label, onClick, attributes = {}) {
  const made = element('button', { type: 'button' }, attributes, label);
  made.addEventListener('click', onClick);
  return made;
}

export function section(title, ...children) {
  return element('section', element('h2', title), ...children);
}

/** A section that is closed until its heading is pressed. */
export function folded(title, ...children) {
  return element('details.card', element('summary', element('h2', title)), ...children);
}

/** A table that scrolls sideways by itself when it is wider than the page. */
export function table(tag, label, columns, rows) {
  const head = columns.map((each) => element('th', { scope: 'col' }, each));
  return element(
    'div.scroll',
    { tabindex: '0', role: 'region', 'aria-label': label },
    element(tag, head.length > 0 && element('thead', element('tr', head)), element('tbody', rows)),
  );
}

/** A number with its noun: `1 URL`, `1,000 URLs`. */
export function many(count, one, several = one + 's') {
  return count.toLocaleString('en') + ' ' + (count === 1 ? one : several);
}

export const PURPOSES = {
  'train-ai': 'Training AI models',
  'ai-use': 'Any use by AI',
  'ai-input': 'Input to AI answers',
  search: 'Search',
};
