import type { Sink } from '../session.ts';

/** Columns of a terminal; undefined when the stream is none, so that files and pipes get whole lines. */
export function widthOf(sink: Sink): number | undefined {
  return sink.isTTY === true && sink.columns !== undefined && sink.columns > 0 ? sink.columns : undefined;
}

/** As many characters as there is room for; the last of them an ellipsis when there are more. */
export function cut(text: string, width: number | undefined): string {
  if (width === undefined || text.length <= width) return text;
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/** Lines of at most `width` characters, broken at spaces; a word that is longer stands alone. */
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

/** Narrower than this a column is not wrapped: a terminal that small breaks lines by itself. */
const MIN_WRAPPED = 24;

/** A label and what there is to say, in two columns; the second wraps. `style` goes over the padded label. */
export function definitions(
  rows: readonly (readonly [label: string, text: string])[],
  width?: number,
  style: (label: string) => string = (label) => label,
): string[] {
  const left = Math.max(0, ...rows.map(([label]) => label.length));
  const room = width === undefined || width - left - 4 < MIN_WRAPPED ? undefined : width - left - 4;
  return rows.flatMap(([label, text]) =>
    wrap(text, room).map((line, index) =>
      `  ${style((index === 0 ? label : '').padEnd(left))}  ${line}`.trimEnd(),
    ),
  );
}

/** Cells in columns as wide as their widest; the first row may be styled. */
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
