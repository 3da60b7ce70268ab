// @ts-check
// Displays many verdicts: by agent, by URL, by profile; what the site states about use; and all of them as a CSV.
import { button, element, foreign, plain, PURPOSES, table } from './elements.js';
import { groupText, ruleLine, verdictMark, verdictWord, whyText } from './verdict.js';

/** Makes buttons, one of them pressed. onPick is called with the value of the chosen button. */
function choice(onPick) {
  const buttons = [];
  return (label, value) => {
    const pick = () => {
      for (const each of buttons) each.setAttribute('aria-pressed', String(each === made));
      onPick(value);
    };
    const made = button(label, pick, { 'aria-pressed': String(buttons.length === 0) });
    buttons.push(made);
    return made;
  };
}

/** The preference of the site for the purpose that was asked about. */
function preferenceMark({ usage }) {
  const { preference, source } = usage || {};
  if (preference !== 'allow' && preference !== 'disallow') return 'not stated';
  const where = source && source.line ? ' line ' + source.line : '';
  return element('span', verdictMark({ allowed: preference === 'allow' }), element('span.at', where));
}

/** Table of the verdicts by agent. onPick receives the selected one. */
export function agentTable(verdicts, purpose, onPick) {
  const choose = choice(onPick);
  const rows = verdicts.map((verdict) =>
    element(
      'tr',
      element('th', { scope: 'row' }, choose(foreign(verdict.agent), verdict)),
      element('td', purpose && { 'data-label': 'Verdict' }, verdictMark(verdict)),
      purpose && element('td.preference', { 'data-label': PURPOSES[purpose] }, preferenceMark(verdict)),
      element('td.why', whyText(verdict)),
      element('td.of', verdict.group ? groupText(verdict.group) : '–'),
    ),
  );
  const columns = ['Agent', 'Verdict', ...(purpose ? [PURPOSES[purpose]] : []), 'Why', 'Group'];
  return table('table.agents', 'Verdicts by agent', columns, rows);
}

/** Table with a row per URL and a column per agent. onPick receives the selected verdict with its URL. */
export function matrix(results, purpose, onPick) {
  const first = results.find(({ verdicts }) => verdicts) || { verdicts: [] };
  const choose = choice(onPick);
  const cell = (verdict, url) =>
    element(
      'td',
      { 'data-label': plain(verdict.agent) },
      choose(
        element(
          'span.cell',
          verdictMark(verdict),
          ' ',
          verdict.rule && element('span.at', 'line ' + verdict.rule.line),
        ),
        { verdict, url },
      ),
      purpose && element('div.preference', preferenceMark(verdict)),
    );
  const rows = results.map(({ input, verdicts }) =>
    element(
      'tr',
      element('th', { scope: 'row' }, foreign(input)),
      verdicts
        ? verdicts.map((verdict) => cell(verdict, input))
        : element(
            'td.wrong',
            { colspan: first.verdicts.length || 1 },
            'Not a URL such as https://example.com/page',
          ),
    ),
  );
  const columns = ['URL', ...first.verdicts.map(({ agent }) => foreign(agent))];
  return table('table.matrix', 'Verdicts by URL and agent', columns, rows);
}

/** Table of the usage preferences that the site states. They do not affect fetching. */
export function usageTable(usage) {
  const rows = Object.entries(PURPOSES)
    .filter(([key]) => usage[key] !== undefined)
    .map(([key, label]) =>
      element(
        'tr',
        element('th', { scope: 'row' }, label),
        element('td', preferenceMark({ usage: { preference: usage[key] } })),
      ),
    );
  const sources = usage.sources.map(({ directive, line, value }) =>
    element('li', (line === undefined ? 'header' : 'line ' + line) + ', ' + directive + ': ', foreign(value)),
  );
  return element(
    'div',
    element('table.usage', element('tbody', rows)),
    sources.length > 0 && element('ul.sources', sources),
  );
}

const STATES = {
  rules: 'by its rules',
  'last-good': 'by its last good copy',
  'allow-all': 'allows everything',
  'disallow-all': 'disallows everything',
};

/** Table of the decisions under other profiles. */
export function profileTable(profiles) {
  const rows = profiles.map(({ profile, state, allowed, line, reason }) =>
    element(
      'tr',
      element('th', { scope: 'row' }, element('code', profile)),
      element('td', allowed === undefined ? 'would need a new request' : verdictMark({ allowed, reason })),
      element(
        'td',
        reason === 'unreachable' ? whyText({ reason }) : line === undefined ? STATES[state] : 'line ' + line,
      ),
    ),
  );
  return table('table', 'Verdicts by profile', ['Profile', 'Verdict', 'Why'], rows);
}

/** Characters that begin a formula in spreadsheets, also in full width, after white space that spreadsheets ignore. */
const FORMULA = /^(?:[\t\r\n]|[\s\u0000-\u001f\ufeff]*[=+\-@|%\uff1d\uff0b\uff0d\uff20])/u;

/**
 * Quotes a cell. An apostrophe before what looks like a formula makes it text. The file of a hostile site could hold such a cell.
 */
function csvCell(value = '') {
  const text = String(value);
  const safe = FORMULA.test(text) ? "'" + text : text;
  return '"' + safe.replaceAll('"', '""') + '"';
}

/** Saves a CSV (RFC 4180) with one line for each URL and agent. Spreadsheets read the byte order mark as a sign of UTF-8. */
export function saveCsv(results, purpose) {
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
          verdict.rule && ruleLine(verdict.rule),
          verdict.group && verdict.group.agent,
          ...(purpose ? [purpose, verdict.usage && verdict.usage.preference] : []),
          '',
        ]),
  );
  const text = [head, ...rows].map((row) => row.map((cell) => csvCell(cell)).join(',') + '\r\n').join('');
  const url = URL.createObjectURL(new Blob(['\ufeff', text], { type: 'text/csv' }));
  const link = element('a', { href: url, download: 'canfetch.csv' });
  link.click();
  URL.revokeObjectURL(url);
}
