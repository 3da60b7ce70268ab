// @ts-check
// Displays a robots.txt as text: whole, and as the few lines around the one that decides.
import { button, byId, element, folded, many, originalText, plain, prose, visible } from './elements.js';

/** Lines shown beside the banner before and after the deciding one. */
const CONTEXT = 3;
/** The browser lays out longer files only where they are visible. */
const LONG = 1000;
/** The browser lays out this many lines at a time, when they come into view. */
const CHUNK = 200;
const LONGEST_IN_EXCERPT = 500;

const SIGN = { error: '✕', warning: '!', info: 'i' };
const SEVERITIES = { error: 'Error', warning: 'Warning', info: 'Note' };

/** Lines of a chunk count from their own start, so that the browser can skip chunks that are out of view. */
function block(first, elements) {
  const made = element('span.chunk', elements);
  made.style.counterReset = 'line ' + (first - 1);
  made.style.setProperty('--count', String(elements.length));
  return made;
}

/** A text with line numbers, which the style sheet makes, as it makes the badge of the line that decides. */
function file(tag, lastLine, attributes, blocks) {
  const made = element(tag, attributes, blocks);
  made.style.setProperty('--digits', String(lastLine).length);
  made.addEventListener('copy', copyOriginal);
  return made;
}

/** Displays one file. pick() marks the lines that a verdict depends on. */
export class Listing {
  constructor({ lines, groupRanges, diagnostics }) {
    this.lines = lines;
    this.diagnostics = diagnostics;
    this.ranges = new Map(groupRanges.map(({ agent, ranges }) => [agent, ranges]));
    // Of several on a line the first.
    const notes = new Map(diagnostics.map(({ line }, index) => [line, this.noteMark(index)]).reverse());
    this.elements = lines.map((text, index) =>
      element('span.line', notes.get(index + 1), visible(text), '\n'),
    );
    const chunks = [];
    for (let from = 0; from < lines.length; from += CHUNK) {
      chunks.push(block(from + 1, this.elements.slice(from, from + CHUNK)));
    }
    const region = { tabindex: '0', role: 'region', 'aria-label': 'robots.txt, line by line' };
    this.text = file(lines.length > LONG ? 'pre.file.long' : 'pre.file', lines.length, region, chunks);
    const legend = element(
      'p.legend',
      element('span.key.group', 'group that applies'),
      element('span.key.lit', 'line that decides'),
      element('span.key.second', 'runner-up'),
    );
    this.whole = folded('robots.txt, ' + many(lines.length, 'line'), legend, this.text);
    this.whole.dataset.part = 'listing';
    const counts = ['error', 'warning'].map((kind) => {
      const count = diagnostics.filter(({ severity }) => severity === kind).length;
      return count === 0 ? '' : ' · ' + many(count, kind);
    });
    this.notes = folded('Notes on this file' + counts.join(''), this.noteList());
    this.excerpt = element('div.excerpt', { 'data-part': 'excerpt' });
  }

  /** Marks the deciding line, the runner-up and the group, here and in the excerpt. */
  pick({ allowed, rule, runnerUp, group }) {
    for (const each of this.text.querySelectorAll('.in-group, .runner-up, .decides')) {
      each.className = 'line';
      each.removeAttribute('data-badge');
    }
    for (const [from, to] of (group && this.ranges.get(group.agent)) || []) {
      for (const each of this.elements.slice(from - 1, to)) each.classList.add('in-group');
    }
    if (runnerUp) this.mark(runnerUp.rule.line, 'runner-up');
    if (rule) this.mark(rule.line, 'decides').classList.add(allowed ? 'allowed' : 'disallowed');
    this.showExcerpt(rule ? rule.line : group && group.lines[0], rule !== undefined);
    this.text.scrollTop = 0;
    if (rule && this.whole.open) this.scrollTo(rule.line);
  }

  mark(line, kind) {
    const marked = this.elements[line - 1];
    marked.classList.add(kind);
    marked.dataset.badge = kind;
    return marked;
  }

  /** Shows the lines around `line` beside the banner. */
  showExcerpt(line, decides) {
    this.excerpt.hidden = line === undefined;
    if (line === undefined) return;
    const first = Math.max(1, line - CONTEXT);
    const last = Math.min(this.lines.length, line + CONTEXT);
    const copies = this.elements.slice(first - 1, last).map((each, index) => {
      const text = this.lines[first - 1 + index];
      const rest = text.length - LONGEST_IN_EXCERPT;
      const cut = rest > 0 && element('span.cut', ' … and ' + rest.toLocaleString('en') + ' more characters');
      const copy = element('span', visible(text.slice(0, LONGEST_IN_EXCERPT)), cut, '\n');
      copy.className = each.className;
      if (each.dataset.badge) copy.dataset.badge = each.dataset.badge;
      return copy;
    });
    this.excerpt.replaceChildren(
      element('p.caption', decides ? 'The line that decides' : 'The group that applies'),
      file('pre', last, {}, block(first, copies)),
      button('Show the whole file', () => this.show(line)),
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
    const box = this.text.getBoundingClientRect();
    const shown = this.elements[line - 1].getBoundingClientRect();
    this.text.scrollTop += shown.top - box.top - this.text.clientHeight / 3;
  }

  noteMark(index) {
    const { severity, message } = this.diagnostics[index];
    const label = SEVERITIES[severity] + ': ' + plain(message);
    const attributes = { href: '#note-' + index, title: label, 'aria-label': label };
    const made = element('a.mark.' + severity, attributes, SIGN[severity]);
    made.addEventListener('click', (event) => {
      // The fragment belongs to the question.
      event.preventDefault();
      this.notes.open = true;
      byId('note-' + index).focus();
    });
    return made;
  }

  /** The sections of the file: the listing, and the notes on it. */
  sections() {
    return this.diagnostics.length === 0 ? [this.whole] : [this.whole, this.notes];
  }

  noteList() {
    return element(
      'ol.notes',
      this.diagnostics.map(({ severity, line, message, hint, explanation }, index) =>
        element(
          'li',
          { id: 'note-' + index, tabindex: '-1' },
          element(
            'p',
            element('strong.' + severity, SEVERITIES[severity]),
            ' ',
            button('line ' + line, () => this.show(line), { class: 'to-line' }),
            ' ',
            prose(message + ' ' + hint),
          ),
          element('details', element('summary', 'Why it matters'), element('p', prose(explanation))),
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
