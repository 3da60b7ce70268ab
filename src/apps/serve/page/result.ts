import { printable, count } from '../../../core/base/index.ts';
import {
  type AnnotatedLine,
  type OmittedLines,
  shorten,
  type UrlExplanation,
} from '../../answers/explanation.ts';
import { explanationFields } from '../../answers/fields.ts';
import type { Diagnostic } from '../../../core/rules/index.ts';
import type { DiagnosticDescription } from '../../../core/rules/lint/findings.ts';
import { becauseSentences, reasonText, groupText } from '../../answers/text/sentences.ts';
import { type ReportedDecision, verdictKinds, type VerdictName, verdictName } from '../../answers/verdict.ts';
import { prose, type Markup, markup } from './document.ts';

/** The address of the same question for another agent, compared with the others. */
export type LinkTo = (agent: string, others: readonly string[]) => string;

type DescribedDiagnostic = Diagnostic & DiagnosticDescription;

/** An answer about one URL. */
interface Result {
  readonly explanation: UrlExplanation;
  /** For each agent, the one of the explanation first. */
  readonly decisions: readonly ReportedDecision[];
  /** Those of the file. */
  readonly lines: readonly AnnotatedLine[];
  readonly diagnostics: readonly DescribedDiagnostic[];
  readonly now: number;
}

/** The banner beside the line that decides, the facts and the agents; everything else in sections that are closed at first. */
export function resultOf(
  { explanation, decisions, lines, diagnostics, now }: Result,
  linkTo: LinkTo | undefined,
): Markup {
  const { decision } = explanation;
  const { robots, profile } = decision;
  const facts = [
    ...explanationFields(explanation, now),
    ['SHA-256', 'sha256' in robots ? robots.sha256 : undefined],
    ['profile', profile],
  ] as const;
  return markup`<div class="summary">${banner(decision, now)}${excerpt(lines, decision)}</div>
<dl class="facts">${facts.map(([label, text]) => text && markup`<dt>${label}</dt><dd>${prose(text)}</dd>`)}</dl>
${agentTable(decisions, linkTo)}
${lines.length > 0 && listing(lines, explanation, diagnostics)}
${diagnostics.length > 0 && notes(diagnostics)}`;
}

/** Text from outside, whose direction does not affect the text around it. */
function foreign(text: string): Markup {
  return markup`<bdi class="foreign">${printable(text)}</bdi>`;
}

/** A text in the tone of a verdict. */
function marked(name: VerdictName): Markup {
  const { sign, title } = verdictKinds[name];
  return markup`<span class="verdict ${name}"><span aria-hidden="true">${sign} </span>${title}</span>`;
}

function banner(decision: ReportedDecision, now: number): Markup {
  const name = verdictName(decision);
  const { agent, url, robots } = decision;
  const sentences = becauseSentences(decision, now);
  const cut = robots.truncated && 'The file is longer than the limit. Rules past it do not count.';
  return markup`<div class="banner ${name}" data-part="banner"><p class="big">${marked(name)}</p>
<p>${foreign(agent)} ${verdictKinds[name].may} ${foreign(url)}</p>
${sentences.map((sentence) => markup`<p>${prose(sentence)}</p>`)}${cut && markup`<p class="remark">${cut}</p>`}</div>`;
}

/** The verdicts for several agents. The table scrolls sideways by itself when it is wider than the page. */
function agentTable(decisions: readonly ReportedDecision[], linkTo: LinkTo | undefined): Markup {
  const agents = decisions.map(({ agent }) => agent);
  const rows = decisions.map((decision, index) => {
    const { agent, group } = decision;
    const link = linkTo?.(
      agent,
      agents.filter((other) => other !== agent),
    );
    const current = index === 0 && markup` aria-current="true"`;
    const name = link
      ? markup`<a class="button" href="${link}"${current}>${foreign(agent)}</a>`
      : foreign(agent);
    return markup`<tr><th scope="row">${name}</th>
<td>${marked(verdictName(decision))}</td><td class="why">${reasonText(decision)}</td>
<td class="of">${group === undefined ? '–' : groupText(group)}</td></tr>`;
  });
  const purpose = decisions[0]?.usage?.purpose;
  return markup`<section><h2>Agents side by side${purpose && `, for ${purpose}`}</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Verdicts by agent"><table class="agents">
<thead><tr>${['Agent', 'Verdict', 'Why', 'Group'].map((each) => markup`<th scope="col">${each}</th>`)}</tr></thead>
<tbody>${rows}</tbody></table></div></section>`;
}

/** Longer files show the lines around those that decide. */
const MAX_LINES = 5_000;
const CONTEXT = 3;
const MAX_LINE_LENGTH = 2_000;

/** The lines around the one that decides, or where the group begins that applies. */
function excerpt(lines: readonly AnnotatedLine[], decision: ReportedDecision): Markup | undefined {
  const { rule, group } = decision;
  const line = rule?.line ?? group?.lines[0];
  if (line === undefined) return undefined;
  const near = lines.slice(Math.max(0, line - 1 - CONTEXT), line + CONTEXT);
  const caption = rule === undefined ? 'The group that applies' : 'The line that decides';
  return markup`<div class="excerpt" data-part="excerpt"><p class="caption">${caption}</p>
<pre class="lines">${near.map((each) => lineOf(each, decision))}</pre><p><a class="button" href="#L${line}">Show the whole file</a></p></div>`;
}

/** The file line by line. A link to a line, or to a note, opens the section. */
function listing(
  all: readonly AnnotatedLine[],
  explanation: UrlExplanation,
  diagnostics: readonly DescribedDiagnostic[],
): Markup {
  const lines = shorten(all, explanation, MAX_LINES);
  // Of several notes on a line the first.
  const noteOf = new Map(diagnostics.map(({ line }, index) => [line, index] as const).reverse());
  const shown = lines.map((each) => {
    if (!('line' in each)) return lineOf(each, explanation.decision);
    const note = noteOf.get(each.line);
    const mark = note === undefined ? undefined : noteMark(diagnostics, note);
    return lineOf(each, explanation.decision, markup` id="L${each.line}"`, mark);
  });
  return markup`<details class="card" data-part="listing"><summary><h2>robots.txt, ${count(all.length, 'line')}</h2></summary>
<pre class="lines file" tabindex="0" role="region" aria-label="robots.txt, line by line">${shown}</pre></details>`;
}

/** A line, whose number and badge the style sheet shows: a selection has the file alone. */
function lineOf(
  line: AnnotatedLine | OmittedLines,
  decision: ReportedDecision,
  id?: Markup,
  mark?: Markup,
): Markup {
  if ('omitted' in line) return markup`<span class="line cut">⋮ ${count(line.omitted, 'line')}\n</span>`;
  const { role, inGroup, text } = line;
  const decides = role === 'decides' && (decision.allowed ? ' decides allowed' : ' decides disallowed');
  const badge = role && markup` data-badge="${role}"`;
  const shown = text.split('\t').map((part) => printable(part, MAX_LINE_LENGTH));
  return markup`<span class="line${inGroup && ' in-group'}${decides}${role === 'runner-up' && ' runner-up'}" data-line="${line.line}"${badge}${id}>${mark}${shown.join('\t')}\n</span>`;
}

const SEVERITIES = {
  error: { sign: '✕', word: 'Error' },
  warning: { sign: '!', word: 'Warning' },
  info: { sign: 'i', word: 'Note' },
} as const;

function noteMark(diagnostics: readonly DescribedDiagnostic[], index: number): Markup | undefined {
  const diagnostic = diagnostics[index];
  if (diagnostic === undefined) return undefined;
  const { severity, message } = diagnostic;
  const { sign, word } = SEVERITIES[severity];
  const label = `${word}: ${printable(message)}`;
  return markup`<a class="mark ${severity}" href="#note-${index}" title="${label}" aria-label="${label}">${sign}</a>`;
}

function notes(diagnostics: readonly DescribedDiagnostic[]): Markup {
  const counts = (['error', 'warning'] as const).map((kind) => {
    const many = diagnostics.filter(({ severity }) => severity === kind).length;
    return many === 0 ? '' : ` · ${count(many, kind)}`;
  });
  const items = diagnostics.map(
    ({ severity, line, message, hint, explanation }, index) =>
      markup`<li id="note-${index}"><p><strong class="${severity}">${SEVERITIES[severity].word}</strong>
<a href="#L${line}">line ${line}</a> ${prose(printable(`${message} ${hint}`, MAX_LINE_LENGTH))}</p>
<details><summary>Why it matters</summary><p>${prose(explanation)}</p></details></li>`,
  );
  return markup`<details class="card"><summary><h2>Notes on this file${counts.join('')}</h2></summary><ol class="notes">${items}</ol></details>`;
}
