import {
  annotateAll,
  type AnnotatedLine,
  type FileExplanation,
  type OmittedLines,
  shorten,
  type UrlExplanation,
} from '../../answers/explanation.ts';
import { explanationFields } from '../../answers/explanation-fields.ts';
import type { ReportedDecision } from '../../answers/verdict.ts';
import {
  count,
  definitions,
  type Field,
  type Palette,
  truncateToWidth,
  verdictLine,
} from '../../answers/text/layout.ts';
import { printable } from '../../../core/base/index.ts';
import type { AskedPage } from './page.ts';
import { ruleText } from '../../answers/text/sentences.ts';
import { type PolicyLayout, otherProfiles, verboseHops } from '../policy/run.ts';

/** An explanation; with `--page` also what the page states about its use. */
export type PageExplanation = UrlExplanation & Partial<AskedPage>;

export interface ExplanationLayout extends PolicyLayout {
  /** Whether to show every line of a long file. */
  readonly all: boolean;
}

/** Renders an explanation as text. */
export function renderExplanation(explanation: PageExplanation, layout: ExplanationLayout): string {
  const { decision, policy, underProfiles, file, redirected, turnedAway, pageFields = [] } = explanation;
  const { colours, now, width, verbose } = layout;
  const fields = explanationFields(explanation, now).map((field) =>
    redirected !== undefined && field[0] === 'rule' ? ruleOfFirstUrl(decision) : field,
  );
  const beside = turnedAway === undefined ? '' : `  ${colours.unsure(`but ${turnedAway}`)}`;
  const hops = verbose && policy?.attempt !== undefined ? verboseHops(policy.attempt) : [];
  return `${[
    `${verdictLine({ ...(redirected ?? decision), url: decision.url }, colours)}${beside}`,
    ...definitions([...fields, ...pageFields], width, colours.faint),
    ...(hops.length === 0 ? [] : ['', ...hops.map((line) => `  ${line}`)]),
    ...(file === undefined ? [] : ['', ...fileLines({ ...explanation, file }, layout)]),
    ...otherProfiles(underProfiles, { colours, width }),
  ].join('\n')}\n`;
}

/** If a redirect of an allowed URL is refused, the rule does not decide. */
function ruleOfFirstUrl({ rule }: ReportedDecision): Field {
  return ['rule', `${rule === undefined ? 'no rule matches' : ruleText(rule)}; its redirect is refused`];
}

function fileLines(explanation: FileExplanation, { all, colours, width }: ExplanationLayout): string[] {
  const lines = shorten(annotateAll(explanation), explanation, all ? Infinity : undefined);
  let last = 1;
  for (const line of lines) if ('line' in line) last = line.line;
  const digits = String(last).length;
  return lines.map((line) => annotatedLine(line, digits, colours, width, explanation));
}

function annotatedLine(
  line: AnnotatedLine | OmittedLines,
  digits: number,
  colours: Palette,
  width: number | undefined,
  { decision }: UrlExplanation,
): string {
  if ('omitted' in line) return colours.faint(`    ${' '.repeat(digits)} ⋮ ${count(line.omitted, 'line')}`);
  const { role, inGroup } = line;
  const note = role === undefined ? '' : role === 'decides' ? '  ← decides' : '  ← matches too';
  const number = String(line.line).padStart(digits);
  const room = width === undefined ? undefined : Math.max(8, width - digits - 7 - note.length);
  const text = truncateToWidth(printable(line.text.replaceAll('\t', ' ')), room) + note;
  const marked = `${role === 'decides' ? '→' : ' '} ${number} ${inGroup ? '┃' : '│'} ${text}`;
  const style = styleOf(line, decision.allowed, colours);
  return `  ${style(marked)}`.trimEnd();
}

function styleOf(
  { role, inGroup }: AnnotatedLine,
  allowed: boolean,
  colours: Palette,
): (text: string) => string {
  if (role === 'decides') return allowed ? colours.good : colours.bad;
  if (role === 'runner-up') return colours.unsure;
  return inGroup ? colours.strong : colours.faint;
}
