import { type Row, tableOf } from './measure.ts';

/** What a part of the bench measured, in Markdown. */
export interface MeasuredPart {
  readonly name: string;
  readonly text: string;
}

const MEASURED = /(<!-- measured -->\n)(.*)(\n<!-- end -->)/s;
const HEADING = /^### `([\w-]+)`\n/;

/** A page with other text between its marks. */
export function rewritten(page: string, rewrite: (before: string) => string): string {
  if (!MEASURED.test(page))
    throw new Error('Expected a page with the marks <!-- measured --> and <!-- end -->');
  return page.replace(MEASURED, (_, start: string, before: string, end: string) => {
    return `${start}\n${rewrite(before.trim())}\n${end}`;
  });
}

/** A part under its heading, with where and how it was measured. */
export function sectionOf(name: string, how: string, rows: readonly Row[]): MeasuredPart {
  return { name, text: `### \`${name}\`\n\n${how}\n\n${tableOf(rows)}` };
}

/** The tables with these parts renewed, in the given order of all parts. Those that were not measured stay. */
export function renewed(tables: string, parts: readonly MeasuredPart[], order: readonly string[]): string {
  return rewritten(tables, (before) => {
    const texts = new Map<string, string>();
    for (const text of before.split(/\n\n(?=### )/)) {
      const name = HEADING.exec(text)?.[1];
      if (name !== undefined) texts.set(name, text);
    }
    for (const { name, text } of parts) texts.set(name, text);
    return order.flatMap((name) => texts.get(name) ?? []).join('\n\n');
  });
}

/** A page with the round ratios of the rows that it quotes. What was not measured stays. */
export function quoted(page: string, rows: readonly Row[]): string {
  let text = page;
  for (const { quotedAs, ratio } of rows) {
    if (quotedAs === undefined) continue;
    const words = quotedAs.split(' ').map((word) => word.replaceAll(/[^\w]/g, '\\$&'));
    const quote = new RegExp(`(${words.join('\\s+')}\\s+)[\\d.]+(?= ×)`);
    if (!quote.test(text)) throw new Error(`Expected a page with "${quotedAs} … ×"`);
    text = text.replace(quote, `$1${Math.round(Number.parseFloat(ratio))}`);
  }
  return text;
}

/** Rows that were measured, and measured again because a bar was missed. What was held once and missed once is noise. */
export function withNoise(rows: readonly Row[], again: readonly Row[]): Row[] {
  return rows.map((row) => {
    const noisy = again.some(({ what, held }) => what === row.what && held !== row.held);
    return noisy ? { ...row, noisy } : row;
  });
}

/** A row as one line, for those who watch. */
export function lineOf({ what, ours, peer, ratio, bar, held, noisy }: Row): string {
  const found = [ours, peer, ratio].filter((cell) => cell !== '').join(' · ');
  return `${what}: ${found}${bar === '' ? '' : ` (bar ${bar}${noisy === true ? ', within noise' : held ? '' : ', MISSED'})`}`;
}
