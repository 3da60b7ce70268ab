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

/** Makes an element. Children are elements or strings; those that are `undefined` or empty are left out. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
}

/** Characters that are invisible, or that change the direction of text. */
const INVISIBLE =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

const numbered = (character) => 'U+' + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

/** Splits foreign text into nodes. Invisible characters are shown as code points, such as `U+200B`. */
export function visible(text) {
  if (!INVISIBLE.test(text)) return text === '' ? [] : [text];
  const parts = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (!INVISIBLE.test(text[at])) continue;
    const code = String(text.charCodeAt(at));
    parts.push(
      text.slice(start, at),
      element('span', { class: 'invisible', 'data-code': code }, numbered(text[at])),
    );
    start = at + 1;
  }
  parts.push(text.slice(start));
  return parts.filter((part) => part !== '');
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
        : [element('code', {}, ...visible(part))],
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
  const cut = text.length > 300 ? text.slice(0, 300) + '…' : text;
  return element('bdi', { class: 'foreign' }, ...visible(cut));
}

/** A button that calls `onClick`. */
export function button(label, onClick, attributes = {}) {
  const made = element('button', { type: 'button', ...attributes }, label);
  made.addEventListener('click', onClick);
  return made;
}

export function section(title, ...children) {
  return element('section', {}, element('h2', {}, title), ...children);
}

/** A section that is closed until its heading is pressed. */
export function folded(title, ...children) {
  return element('details', { class: 'card' }, element('summary', {}, element('h2', {}, title)), ...children);
}

/** A list of labels with values. Rows without a value are left out. */
export function facts(rows) {
  const list = element('dl', { class: 'facts' });
  for (const [label, value] of rows) {
    if (value === undefined || value === false || value === '') continue;
    list.append(element('dt', {}, label), element('dd', {}, value));
  }
  return list;
}

/** A table that scrolls sideways by itself when it is wider than the page. */
export function scrolling(label, table) {
  return element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);
}

export function tableHead(...cells) {
  return element(
    'thead',
    {},
    element('tr', {}, ...cells.map((cell) => element('th', { scope: 'col' }, cell))),
  );
}
