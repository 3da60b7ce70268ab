// @ts-check
// Displays a robots.txt as text, with line numbers, the deciding lines and marks in the margin.
import { element, plain, visible } from './result.js';

/** Files with at most this many lines are shown completely; of longer files, the lines around the deciding ones. */
const WHOLE = 1200;
const CONTEXT = 12;
const MORE = 500;
const LONGEST = 1500;

/** The text of a line, truncated when it is very long. */
function lineText(text) {
  if (text.length <= LONGEST) return visible(text);
  const rest = (text.length - LONGEST).toLocaleString('en');
  return [
    ...visible(text.slice(0, LONGEST)),
    element('span', { class: 'cut' }, ' … and ' + rest + ' more characters'),
  ];
}

/** Line numbers of the groups that apply: their user-agent lines, rules and other records. */
function linesOfGroup({ groups, otherRecords }, group) {
  const wanted = new Set(group ? group.lines : []);
  const lines = new Set(wanted);
  const blocks = new Set();
  for (const { agentLines, rules } of groups) {
    const naming = agentLines.filter(({ line }) => wanted.has(line));
    if (naming.length === 0) continue;
    for (const { block } of naming) blocks.add(block);
    for (const { line } of rules) lines.add(line);
  }
  for (const { block, line } of otherRecords) if (blocks.has(block)) lines.add(line);
  return lines;
}

/**
 * Selects the ranges of lines to show: [first, last], 1-based, in order.
 * @param {number} count Number of lines in the file.
 * @param {number[]} places Lines that affect the decision.
 * @returns {[number, number][]}
 */
function stretches(count, places) {
  if (count <= WHOLE) return [[1, count]];
  /** @type {[number, number][]} */
  const found = [[1, CONTEXT * 4]];
  for (const place of [...places].sort((a, b) => a - b)) {
    const from = Math.max(1, place - CONTEXT);
    const to = Math.min(count, place + CONTEXT);
    const last = found[found.length - 1];
    if (from <= last[1] + 1) last[1] = Math.max(last[1], to);
    else found.push([from, to]);
  }
  return found;
}

const SEVERITY = { error: 'Error', warning: 'Warning', info: 'Note' };

/** Displays one file. light() marks the lines that a verdict depends on. */
export class FileView {
  constructor({ lines, groups, otherRecords, diagnostics }) {
    this.lines = lines;
    this.file = { groups, otherRecords };
    this.notes = new Map();
    diagnostics.forEach((diagnostic, index) => {
      const { line } = diagnostic;
      this.notes.set(line, [...(this.notes.get(line) || []), { ...diagnostic, index }]);
    });
    /** Ranges of lines that are shown: [first, last], 1-based. @type {[number, number][]} */
    this.shown = [];
    /** @type {Set<number>} Lines of the group that applies. */
    this.inGroup = new Set();
    this.list = element('ol', { class: 'lines' });
    this.node = element(
      'div',
      { class: 'file', tabindex: '0', role: 'region', 'aria-label': 'robots.txt, line by line' },
      this.list,
    );
  }

  /** Marks the deciding line, the runner-up and the group. */
  light({ allowed, rule, runnerUp, group }) {
    this.rule = rule;
    this.allowed = allowed;
    this.runnerUp = runnerUp && runnerUp.rule;
    this.inGroup = linesOfGroup(this.file, group);
    const places = [this.rule, this.runnerUp].filter(Boolean).map(({ line }) => line);
    if (group) places.push(...group.lines.slice(0, 20));
    this.shown = stretches(this.lines.length, places);
    this.draw();
    const decides = this.list.querySelector('.decides');
    if (decides) this.node.scrollTop = decides.offsetTop - this.node.clientHeight / 3;
    else this.node.scrollTop = 0;
  }

  /** Adds a line to the display if it is missing, and scrolls to it. */
  show(line) {
    if (!this.shown.some(([from, to]) => from <= line && line <= to)) {
      this.shown = [
        ...this.shown,
        [Math.max(1, line - CONTEXT), Math.min(this.lines.length, line + CONTEXT)],
      ];
      this.merge();
      this.draw();
    }
    const item = this.list.querySelector('#line-' + line);
    if (item) this.node.scrollTop = item.offsetTop - this.node.clientHeight / 3;
    return item;
  }

  merge() {
    /** @type {[number, number][]} */
    const merged = [];
    for (const [from, to] of this.shown.sort((a, b) => a[0] - b[0])) {
      const last = merged[merged.length - 1];
      if (last && from <= last[1] + 1) last[1] = Math.max(last[1], to);
      else merged.push([from, to]);
    }
    this.shown = merged;
  }

  draw() {
    const items = [];
    let next = 1;
    for (const [from, to] of this.shown) {
      if (from > next) items.push(this.gap(next, from - 1));
      for (let line = from; line <= to; line++) items.push(this.item(line));
      next = to + 1;
    }
    if (next <= this.lines.length) items.push(this.gap(next, this.lines.length));
    this.list.style.setProperty('--digits', String(this.lines.length).length);
    this.list.replaceChildren(...items);
  }

  gap(from, to) {
    const many = to - from + 1;
    const upTo = Math.min(to, from + MORE - 1);
    const label =
      upTo === to
        ? 'Show ' + many.toLocaleString('en') + ' hidden lines'
        : 'Show ' + MORE + ' of ' + many.toLocaleString('en') + ' hidden lines';
    const button = element('button', { type: 'button' }, label);
    button.addEventListener('click', () => {
      this.shown.push([from, upTo]);
      this.merge();
      this.draw();
      const first = this.list.querySelector('#line-' + from);
      first.tabIndex = -1;
      first.focus({ preventScroll: true });
    });
    return element('li', { class: 'gap' }, button);
  }

  item(line) {
    const classes = [];
    let badge;
    if (this.rule && this.rule.line === line) {
      classes.push('decides', this.allowed ? 'allowed' : 'disallowed');
      badge = 'decides';
    } else if (this.runnerUp && this.runnerUp.line === line) {
      classes.push('runner-up');
      badge = 'runner-up';
    }
    if (this.inGroup.has(line)) classes.push('in-group');
    const notes = this.notes.get(line) || [];
    const mark = element('span', { class: 'mark' });
    if (notes.length > 0) {
      const [{ severity, message, index }] = notes;
      const label = SEVERITY[severity] + ': ' + plain(message);
      mark.append(
        element(
          'a',
          { href: '#note-' + index, class: severity, title: label, 'aria-label': label },
          severity === 'error' ? '✕' : severity === 'warning' ? '!' : 'i',
        ),
      );
    }
    return element(
      'li',
      { id: 'line-' + line, class: classes.join(' ') },
      mark,
      element('span', { class: 'number' }, String(line)),
      element('code', {}, ...lineText(this.lines[line - 1])),
      badge ? element('span', { class: 'badge' }, badge) : '',
    );
  }
}

/** Lists the diagnostics of the file, each with a link to its line. */
export function noteList(diagnostics, view) {
  return element(
    'ol',
    { class: 'notes' },
    ...diagnostics.map(({ severity, line, message, hint, explanation }, index) => {
      const link = element('a', { href: '#line-' + line }, 'line ' + line);
      link.addEventListener('click', (event) => {
        event.preventDefault();
        const item = view.show(line);
        item.tabIndex = -1;
        item.focus({ preventScroll: false });
      });
      return element(
        'li',
        { id: 'note-' + index, tabindex: '-1' },
        element(
          'p',
          {},
          element('strong', { class: severity }, SEVERITY[severity]),
          ' ',
          link,
          ' ',
          ...visible(message),
          ' ',
          ...visible(hint),
        ),
        element('details', {}, element('summary', {}, 'Why it matters'), element('p', {}, explanation)),
      );
    }),
  );
}
