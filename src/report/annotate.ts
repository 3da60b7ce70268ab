import { linesApplying } from '../rules/describe.ts';
import type { RobotsFile } from '../rules/index.ts';
import type { UrlExplanation } from './explanation.ts';

/** A line of a file, and what it has to do with the decision. */
export interface AnnotatedLine {
  /** 1-based. */
  readonly line: number;
  /** As it stands in the file; invalid UTF-8 shows as U+FFFD. */
  readonly text: string;
  /** Of the group that applies: a user-agent line that names the agent, a rule, or another record that counts for it. */
  readonly inGroup: boolean;
  readonly role?: 'decides' | 'runner-up';
}

/** Lines that are left out because nothing about them matters. */
export interface Gap {
  readonly omitted: number;
}

/** A file of so many lines is shown whole. */
const SHORT_FILE = 60;
const CONTEXT = 2;
/** Of a group spread over many places the first are shown. */
const MOST_PLACES = 20;

/** The file line by line; of a long one what lies about the lines that matter, unless `all` is asked for. */
export function annotate(
  { decision, runnerUp, file }: UrlExplanation & { readonly file: RobotsFile },
  all: boolean,
): (AnnotatedLine | Gap)[] {
  const texts = linesOf(file.bytes);
  const inGroup = decision.group === undefined ? new Set() : groupLines(file, decision.agent);
  const lines = texts.map((text, index): AnnotatedLine => {
    const line = index + 1;
    const common = { line, text, inGroup: inGroup.has(line) };
    if (line === decision.rule?.line) return { ...common, role: 'decides' };
    return line === runnerUp?.rule.line ? { ...common, role: 'runner-up' } : common;
  });
  if (all || lines.length <= SHORT_FILE) return lines;
  const places = [
    ...[decision.rule?.line, runnerUp?.rule.line].filter((line) => line !== undefined),
    ...(decision.group?.lines ?? []),
  ].slice(0, MOST_PLACES);
  return around(lines, places);
}

/** Lines end at LF, CR or CRLF. */
export function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The user-agent lines that make groups apply to `agent`, the rules of these groups, the records of their blocks. */
export function groupLines(file: RobotsFile, agent: string): ReadonlySet<number> {
  const all = new Set(linesApplying(file, agent)?.lines);
  const blocks = new Set<number>();
  for (const { agentLines, rules } of file.groups) {
    const naming = agentLines.filter(({ line }) => all.has(line));
    if (naming.length === 0) continue;
    for (const { block } of naming) blocks.add(block);
    for (const { line } of rules) all.add(line);
  }
  for (const { block, line } of file.otherRecords)
    if (block !== undefined && blocks.has(block)) all.add(line);
  return all;
}

function around(lines: readonly AnnotatedLine[], places: readonly number[]): (AnnotatedLine | Gap)[] {
  const shown: (AnnotatedLine | Gap)[] = [];
  let next = 1;
  const showTo = (end: number): void => {
    shown.push(...lines.slice(next - 1, end));
    next = Math.max(next, end + 1);
  };
  for (const place of [...places].sort((a, b) => a - b)) {
    const start = Math.max(next, place - CONTEXT);
    if (start > next) shown.push({ omitted: start - next });
    next = start;
    showTo(Math.min(lines.length, place + CONTEXT));
  }
  // Without a line that matters, the beginning is as good as anything.
  if (places.length === 0) showTo(Math.min(lines.length, SHORT_FILE));
  if (next <= lines.length) shown.push({ omitted: lines.length - next + 1 });
  return shown;
}
