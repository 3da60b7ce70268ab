// @ts-check
// Displays a robots.txt as text: whole, and as the few lines around the one that decides.
import { button, byId, element, folded, originalText, plain, prose, visible } from './elements.js';
import { texts } from './texts.js';

/** Lines shown beside the banner before and after the deciding one. */
const CONTEXT = 3;
/** The browser lays out longer files only where they are visible. */
const LONG = 1000;
/** The browser lays out this many lines at a time, when they come into view. */
const CHUNK = 200;
const LONGEST_IN_EXCERPT = 500;

const SIGN = { error: '✕', warning: '!', info: 'i' };

/** An element for a line. Its number, and the badge of the line that decides, are made by the style sheet. */
function lineElement(text, ...marks) {
  return element('span', { class: 'line' }, ...marks, ...visible(text), '\n');
}

/** Lines of a chunk count from their own start, so that the browser can skip chunks that are out of view. */
function block(first, elements) {
  const made = element('span', { class: 'chunk' }, ...elements);
  made.style.counterReset = 'line ' + (first - 1);
  made.style.setProperty('--count', String(elements.length));
  return made;
}

/** Displays one file. pick() marks the lines that a verdict depends on. */
export class Listing {
  constructor({ lines, groupRanges, diagnostics }) {
    this.lines = lines;
    this.diagnostics = diagnostics;
    this.ranges = new Map(groupRanges.map(({ agent, ranges }) => [agent, ranges]));
    const notes = new Map();
    diagnostics.forEach(({ line, severity, message }, index) => {
      if (!notes.has(line)) notes.set(line, this.noteMark(severity, message, index));
    });
    this.elements = lines.map((text, index) => {
      const note = notes.get(index + 1);
      return note ? lineElement(text, note) : lineElement(text);
    });
    /** @type {[number, number][]} */
    this.group = [];
    /** @type {Element[]} */
    this.marked = [];
    const chunks = [];
    for (let from = 0; from < lines.length; from += CHUNK) {
      chunks.push(block(from + 1, this.elements.slice(from, from + CHUNK)));
    }
    this.text = element(
      'pre',
      {
        class: lines.length > LONG ? 'file long' : 'file',
        tabindex: '0',
        role: 'region',
        'aria-label': texts.fileRegion,
      },
      ...chunks,
    );
    this.text.style.setProperty('--digits', String(lines.length).length);
    this.text.addEventListener('copy', copyOriginal);
    this.whole = folded(texts.fileTitle(lines.length), legend(), this.text);
    this.whole.dataset.part = 'listing';
    const [errors, warnings] = ['error', 'warning'].map(
      (each) => diagnostics.filter(({ severity }) => severity === each).length,
    );
    this.notes = folded(texts.notesTitle(errors, warnings), this.noteList());
    this.excerpt = element('div', { class: 'excerpt', 'data-part': 'excerpt' });
  }

  /** Marks the deciding line, the runner-up and the group, here and in the excerpt. */
  pick(verdict) {
    const { allowed, rule, runnerUp, group } = verdict;
    for (const [from, to] of this.group) this.eachLine(from, to, (each) => each.classList.remove('in-group'));
    this.group = (group && this.ranges.get(group.agent)) || [];
    for (const [from, to] of this.group) this.eachLine(from, to, (each) => each.classList.add('in-group'));
    for (const each of this.marked) {
      each.classList.remove('decides', 'allowed', 'disallowed', 'runner-up');
      each.removeAttribute('data-badge');
    }
    this.marked = [];
    if (runnerUp) this.mark(runnerUp.rule.line, ['runner-up'], texts.badge.runnerUp);
    if (rule) this.mark(rule.line, ['decides', allowed ? 'allowed' : 'disallowed'], texts.badge.decides);
    this.showExcerpt(rule ? rule.line : group && group.lines[0], rule !== undefined);
    this.text.scrollTop = 0;
    if (rule && this.whole.open) this.scrollTo(rule.line);
  }

  eachLine(from, to, change) {
    for (let line = from; line <= to; line++) if (this.elements[line - 1]) change(this.elements[line - 1]);
  }

  mark(line, classes, badge) {
    const marked = this.elements[line - 1];
    if (!marked) return;
    marked.classList.add(...classes);
    marked.dataset.badge = badge;
    this.marked.push(marked);
  }

  /** Shows the lines around `line` beside the banner. */
  showExcerpt(line, decides) {
    this.excerpt.hidden = line === undefined;
    if (line === undefined) return;
    const first = Math.max(1, line - CONTEXT);
    const last = Math.min(this.lines.length, line + CONTEXT);
    const copies = this.elements.slice(first - 1, last).map((each, index) => {
      const text = this.lines[first - 1 + index];
      const copy =
        text.length > LONGEST_IN_EXCERPT
          ? element(
              'span',
              {},
              ...visible(text.slice(0, LONGEST_IN_EXCERPT)),
              element('span', { class: 'cut' }, texts.moreCharacters(text.length - LONGEST_IN_EXCERPT)),
              '\n',
            )
          : lineElement(text);
      copy.className = each.className;
      if (each.dataset.badge) copy.dataset.badge = each.dataset.badge;
      return copy;
    });
    const shown = element('pre', {}, block(first, copies));
    shown.style.setProperty('--digits', String(last).length);
    shown.addEventListener('copy', copyOriginal);
    this.excerpt.replaceChildren(
      element('p', { class: 'caption' }, decides ? texts.decidingLine : texts.applyingGroup),
      shown,
      button(texts.showWhole, () => this.show(line)),
    );
  }

  /** Opens the whole file, and scrolls to a line. */
  show(line) {
    this.whole.open = true;
    this.scrollTo(line);
    this.text.scrollIntoView({ block: 'nearest' });
    this.text.focus({ preventScroll: true });
  }

  scrollTo(line) {
    const shown = this.elements[line - 1];
    if (!shown) return;
    const box = this.text.getBoundingClientRect();
    this.text.scrollTop += shown.getBoundingClientRect().top - box.top - this.text.clientHeight / 3;
  }

  noteMark(severity, message, index) {
    const label = texts.severities[severity] + ': ' + plain(message);
    const made = element(
      'a',
      { href: '#note-' + index, class: 'mark ' + severity, title: label, 'aria-label': label },
      SIGN[severity],
    );
    made.addEventListener('click', (event) => {
      // The fragment belongs to the question.
      event.preventDefault();
      const note = byId('note-' + index);
      this.notes.open = true;
      note.focus();
    });
    return made;
  }

  /** The sections of the file: the listing, and the notes on it. */
  sections() {
    return this.diagnostics.length === 0 ? [this.whole] : [this.whole, this.notes];
  }

  noteList() {
    return element(
      'ol',
      { class: 'notes' },
      ...this.diagnostics.map(({ severity, line, message, hint, explanation }, index) =>
        element(
          'li',
          { id: 'note-' + index, tabindex: '-1' },
          element(
            'p',
            {},
            element('strong', { class: severity }, texts.severities[severity]),
            ' ',
            button(texts.line(line), () => this.show(line), { class: 'to-line' }),
            ' ',
            ...prose(message),
            ' ',
            ...prose(hint),
          ),
          element(
            'details',
            {},
            element('summary', {}, texts.whyItMatters),
            element('p', {}, ...prose(explanation)),
          ),
        ),
      ),
    );
  }
}

/** Copies the original text of the file, without line numbers and without the codes shown for invisible characters. */
function copyOriginal(event) {
  const selection = getSelection();
  if (selection === null || selection.isCollapsed) return;
  const file = event.currentTarget;
  let text = '';
  for (let index = 0; index < selection.rangeCount; index++) {
    const range = selection.getRangeAt(index).cloneRange();
    if (!file.contains(range.startContainer)) range.setStart(file, 0);
    if (!file.contains(range.endContainer)) range.setEnd(file, file.childNodes.length);
    const copied = range.cloneContents();
    for (const mark of copied.querySelectorAll('.mark')) mark.remove();
    text += originalText(copied);
  }
  event.clipboardData.setData('text/plain', text);
  event.preventDefault();
}

function legend() {
  return element(
    'p',
    { class: 'legend' },
    element('span', { class: 'key group' }, texts.legend.group),
    element('span', { class: 'key lit' }, texts.legend.decides),
    element('span', { class: 'key second' }, texts.legend.runnerUp),
  );
}
