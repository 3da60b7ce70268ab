import { styleText } from 'node:util';
import { printable } from '../../../core/base/index.ts';
import { type ReportedDecision, verdictKinds, verdictName } from '../verdict.ts';
import type { Session, Sink } from '../session.ts';

/** Width of a terminal in columns; `undefined` for other streams, so that files and pipes get unwrapped lines. */
export function widthOf(sink: Sink): number | undefined {
  return sink.isTTY === true && sink.columns !== undefined && sink.columns > 0 ? sink.columns : undefined;
}

/** Truncates text to `width` characters, and ends truncated text with an ellipsis. */
export function truncateToWidth(text: string, width: number | undefined): string {
  if (width === undefined || text.length <= width) return text;
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Wraps text at spaces into lines of at most `width` characters. A longer word gets its own line. */
export function wrap(text: string, width: number | undefined): string[] {
  if (width === undefined || text.length <= width) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** Narrower columns are not wrapped: a terminal that small breaks the lines itself. */
const MIN_WRAPPED = 24;

/** The verdict in capitals, and the URL. */
export function verdictLine(decision: ReportedDecision, colours: Palette): string {
  const { label, tone } = verdictKinds[verdictName(decision)];
  return `${colours[tone](label)}${' '.repeat(12 - label.length)}${printable(decision.url)}`;
}

/** A label and its text. Without a text the line is left out. */
export type Field = readonly [label: string, text: string | undefined];

/**
 * Lays out labels and texts in two columns; the second wraps. `style` is applied to the padded label. A label longer than
 * `maxLabel` gets its own line.
 */
export function definitions(
  fields: readonly Field[],
  width?: number,
  style: (label: string) => string = (label) => label,
  maxLabel: number = Number.POSITIVE_INFINITY,
): string[] {
  const entries = fields.flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));
  const lengths = entries.map(([label]) => label.length);
  const left = Math.max(0, ...lengths.filter((length) => length <= maxLabel));
  const room = width === undefined || width - left - 4 < MIN_WRAPPED ? undefined : width - left - 4;
  return entries.flatMap(([label, text]) => {
    const texts = label.length > left ? ['', ...wrap(text, room)] : wrap(text, room);
    return texts.map((line, index) =>
      `  ${style((index === 0 ? label : '').padEnd(left))}  ${line}`.trimEnd(),
    );
  });
}

/** Lays out cells in columns, each as wide as its widest cell. The first row may be styled. */
export function grid(
  rows: readonly (readonly string[])[],
  headStyle: (text: string) => string = (text) => text,
): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row, index) => {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
    return `  ${index === 0 ? headStyle(line) : line}`;
  });
}

/** The text styles of the output. */
export interface Palette {
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
  readonly unsure: (text: string) => string;
  readonly faint: (text: string) => string;
  readonly strong: (text: string) => string;
}

const plain = (text: string): string => text;
const colourless: Palette = { good: plain, bad: plain, unsure: plain, faint: plain, strong: plain };

type Format = Parameters<typeof styleText>[0];
// `paletteFor` decides whether to colour, for one stream rather than for the process.
const style =
  (format: Format) =>
  (text: string): string =>
    styleText(format, text, { validateStream: false });
const coloured: Palette = {
  good: style(['bold', 'green']),
  bad: style(['bold', 'red']),
  unsure: style(['bold', 'yellow']),
  faint: style('dim'),
  strong: style('bold'),
};

/** Colours for standard output: FORCE_COLOR decides, then NO_COLOR and a dumb terminal, then whether it is a terminal. */
export function paletteFor({ stdout, env }: Session): Palette {
  const { FORCE_COLOR: force = '', NO_COLOR: no = '', TERM: terminal } = env;
  if (force !== '') return force === '0' || force === 'false' ? colourless : coloured;
  return no === '' && terminal !== 'dumb' && stdout.isTTY === true ? coloured : colourless;
}

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** Formats a duration with one unit: `45 s`, `3 min`, `23 h`, `12 d`. */
export function duration(ms: number): string {
  if (ms < 90 * SECOND_MS) return `${Math.max(0, Math.round(ms / SECOND_MS))} s`;
  if (ms < 90 * MINUTE_MS && ms !== HOUR_MS) return `${Math.round(ms / MINUTE_MS)} min`;
  if (ms < 48 * HOUR_MS) return `${Math.round(ms / HOUR_MS)} h`;
  return `${Math.round(ms / DAY_MS)} d`;
}

/** Formats the time since `at`: `just now`, or `3 min ago`. */
export function ago(at: number, now: number): string {
  return now - at < SECOND_MS ? 'just now' : `${duration(now - at)} ago`;
}

/** Formats a future time: `in 2 min (2026-01-02 12:31:04Z)`. The time stamp can be compared with logs. */
export function ahead(at: number, now: number): string {
  return at <= now ? `now (since ${instant(at)})` : `in ${duration(at - now)} (${instant(at)})`;
}

/** Formats a time stamp: `2026-01-02 12:31:04Z`. A number outside the range of `Date` is shown as it is. */
export function instant(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  return date
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
