// @ts-check
// Displays many verdicts: by agent, by URL, by profile; what the site states about use; and all of them as a CSV.
import { button, element, foreign, plain, scrolling, tableHead } from './elements.js';
import { texts } from './texts.js';
import { groupText, mark, verdictMark, whyText, verdictWord } from './verdict.js';

/** Buttons, one of them pressed. onPick is called with the value of the chosen button. */
class Choice {
  constructor(onPick) {
    this.onPick = onPick;
    this.buttons = [];
  }

  button(label, value) {
    const made = button(
      label,
      () => {
        for (const each of this.buttons) each.setAttribute('aria-pressed', String(each === made));
        this.onPick(value);
      },
      { 'aria-pressed': String(this.buttons.length === 0) },
    );
    this.buttons.push(made);
    return made;
  }
}

/** The preference of the site for the purpose that was asked about. */
function preferenceMark({ usage }) {
  const preference = usage && usage.preference;
  if (preference !== 'allow' && preference !== 'disallow') return texts.preferences.unknown;
  const where = usage.source && usage.source.line ? ' ' + texts.line(usage.source.line) : '';
  return element(
    'span',
    {},
    mark(preference === 'allow' ? 'allowed' : 'disallowed', texts.preferences[preference]),
    element('span', { class: 'at' }, where),
  );
}

/** Table of the verdicts by agent. onPick receives the selected one. */
export function agentTable(verdicts, purpose, onPick) {
  const choice = new Choice(onPick);
  const rows = verdicts.map((verdict) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, choice.button(foreign(verdict.agent), verdict)),
      element('td', { 'data-label': purpose ? texts.verdict : undefined }, verdictMark(verdict)),
      ...(purpose
        ? [
            element(
              'td',
              { class: 'preference', 'data-label': texts.purposes[purpose] },
              preferenceMark(verdict),
            ),
          ]
        : []),
      element('td', { class: 'why' }, whyText(verdict)),
      element('td', { class: 'of' }, groupText(verdict.group) || '–'),
    ),
  );
  const columns = [
    texts.agent,
    texts.verdict,
    ...(purpose ? [texts.purposes[purpose]] : []),
    texts.why,
    texts.group,
  ];
  return scrolling(
    texts.byAgent,
    element('table', { class: 'agents' }, tableHead(...columns), element('tbody', {}, ...rows)),
  );
}

/** Table with a row per URL and a column per agent. onPick receives the selected verdict with its URL. */
export function matrix(results, purpose, onPick) {
  const first = results.find(({ verdicts }) => verdicts) || { verdicts: [] };
  const choice = new Choice(onPick);
  const rows = results.map(({ input, verdicts, error }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, foreign(input)),
      ...(error
        ? [element('td', { colspan: String(first.verdicts.length || 1), class: 'wrong' }, texts.noUrlRow)]
        : verdicts.map((verdict) =>
            element(
              'td',
              { 'data-label': plain(verdict.agent) },
              choice.button(cell(verdict), { verdict, url: input }),
              ...(purpose ? [element('div', { class: 'preference' }, preferenceMark(verdict))] : []),
            ),
          )),
    ),
  );
  return scrolling(
    texts.byUrl,
    element(
      'table',
      { class: 'matrix' },
      tableHead(texts.url, ...first.verdicts.map(({ agent }) => foreign(agent))),
      element('tbody', {}, ...rows),
    ),
  );
}

function cell(verdict) {
  const where = verdict.rule ? element('span', { class: 'at' }, texts.line(verdict.rule.line)) : '';
  return element('span', { class: 'cell' }, verdictMark(verdict), ' ', where);
}

/** Table of the usage preferences that the site states. They do not affect fetching. */
export function usageTable(usage) {
  const rows = Object.entries(texts.purposes)
    .filter(([key]) => usage[key] !== undefined)
    .map(([key, label]) =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, label),
        element('td', {}, preferenceMark({ usage: { preference: usage[key] } })),
      ),
    );
  const sources = usage.sources.map(({ directive, line, value }) =>
    element(
      'li',
      {},
      (line === undefined ? texts.header : texts.line(line)) + ', ' + directive + ': ',
      foreign(value),
    ),
  );
  return element(
    'div',
    {},
    element('table', { class: 'usage' }, element('tbody', {}, ...rows)),
    ...(sources.length === 0 ? [] : [element('ul', { class: 'sources' }, ...sources)]),
  );
}

/** Table of the decisions under other profiles. */
export function profileTable(profiles) {
  const rows = profiles.map(({ profile, state, allowed, line, reason }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, element('code', {}, profile)),
      element(
        'td',
        {},
        allowed === undefined ? texts.wouldAsk : verdictMark({ allowed, reason: reason || 'rule' }),
      ),
      element('td', {}, profileReason({ state, line, reason })),
    ),
  );
  return scrolling(
    texts.byProfile,
    element('table', {}, tableHead(texts.profile, texts.verdict, texts.why), element('tbody', {}, ...rows)),
  );
}

function profileReason({ state, line, reason }) {
  if (reason === 'unreachable') return texts.reasons.unreachable;
  return line === undefined ? texts.states[state] || '' : texts.line(line);
}

/** Characters that begin a formula in spreadsheets, also in full width, after white space that spreadsheets ignore. */
const FORMULA = /^(?:[\t\r\n]|[\s\u0000-\u001f\ufeff]*[=+\-@|%\uff1d\uff0b\uff0d\uff20])/u;

/**
 * Quotes a cell. An apostrophe before what looks like a formula makes it text. The file of a hostile site could hold such a cell.
 */
function csvCell(value) {
  const text = value === undefined ? '' : String(value);
  const safe = FORMULA.test(text) ? "'" + text : text;
  return '"' + safe.replaceAll('"', '""') + '"';
}

/** A CSV (RFC 4180) with one line for each URL and agent. */
export function csv(results, purpose) {
  const head = ['url', 'agent', 'verdict', 'reason', 'line', 'rule', 'group'];
  head.push(...(purpose ? ['purpose', 'preference'] : []), 'error');
  const rows = results.flatMap(({ input, verdicts, error }) =>
    error
      ? [[input, ...head.slice(2).map(() => ''), error.message]]
      : verdicts.map((verdict) => [
          input,
          verdict.agent,
          verdictWord(verdict),
          verdict.reason,
          verdict.rule && verdict.rule.line,
          verdict.rule &&
            (verdict.rule.directive === 'allow' ? 'Allow: ' : 'Disallow: ') + verdict.rule.pattern,
          verdict.group && verdict.group.agent,
          ...(purpose ? [purpose, verdict.usage && verdict.usage.preference] : []),
          '',
        ]),
  );
  return [head, ...rows].map((row) => row.map(csvCell).join(',') + '\r\n').join('');
}

/** Saves the CSV. Spreadsheets read the byte order mark as a sign of UTF-8. */
export function saveCsv(text) {
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = texts.csvName;
  link.click();
  URL.revokeObjectURL(url);
}
