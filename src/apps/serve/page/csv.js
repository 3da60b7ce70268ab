// @ts-check
// Makes a CSV of the verdicts (RFC 4180), for spreadsheets.
import { texts } from './texts.js';
import { verdictWord } from './verdict.js';

/** Characters that begin a formula in spreadsheets, also in full width, after white space that spreadsheets ignore. */
const FORMULA = /^(?:[\t\r\n]|[\s\u0000-\u001f\ufeff]*[=+\-@|%\uff1d\uff0b\uff0d\uff20])/u;

/**
 * Quotes a cell. An apostrophe before what looks like a formula makes it text. The file of a hostile site could hold such a cell.
 */
export function csvCell(value) {
  const text = value === undefined ? '' : String(value);
  const safe = FORMULA.test(text) ? "'" + text : text;
  return '"' + safe.replaceAll('"', '""') + '"';
}

/** One line for each URL and agent. */
export function csv(results, purpose) {
  const { columns } = texts;
  const head = [
    columns.url,
    columns.agent,
    columns.verdict,
    columns.reason,
    columns.line,
    columns.rule,
    columns.group,
    ...(purpose ? [columns.purpose, columns.preference] : []),
    columns.error,
  ];
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
