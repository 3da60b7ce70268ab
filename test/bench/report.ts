import { type Row, tableOf } from './measure.ts';

/** What a part of the bench measured, in Markdown. */
export interface MeasuredPart {
  readonly name: string;
  readonly text: string;
}

const MEASURED = /(<!-- measured -->\n)(.*)(\n<!-- end -->)/s;
const HEADING = /^### `(\w+)`\n/;

/** A part under its heading, with where and how it was measured. */
export function sectionOf(name: string, how: string, content: readonly Row[] | string): MeasuredPart {
  const table = typeof content === 'string' ? content : tableOf(content);
  return { name, text: `### \`${name}\`\n\n${how}\n\n${table}` };
}

/** The tables with these parts renewed, in the given order of all parts. Those that were not measured stay. */
export function renewed(tables: string, parts: readonly MeasuredPart[], order: readonly string[]): string {
  return tables.replace(MEASURED, (_, start: string, before: string, end: string) => {
    const texts = new Map<string, string>();
    for (const text of before.trim().split(/\n\n(?=### )/)) {
      const name = HEADING.exec(text)?.[1];
      if (name !== undefined) texts.set(name, text);
    }
    for (const { name, text } of parts) texts.set(name, text);
    return `${start}\n${order.flatMap((name) => texts.get(name) ?? []).join('\n\n')}\n${end}`;
  });
}

/** A row as one line, for those who watch. */
export function lineOf({ what, ours, peer, ratio, bar, held }: Row): string {
  const found = [ours, peer, ratio].filter((cell) => cell !== '').join(' · ');
  return `${what}: ${found}${bar === '' ? '' : ` (bar ${bar}${held ? '' : ', MISSED'})`}`;
}
