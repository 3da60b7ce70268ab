import { printable } from '../../../core/base/index.ts';
import type { Purpose } from '../../../core/decision/index.ts';
import {
  type AnnotatedLine,
  type OmittedLines,
  type ProfileDecision,
  shorten,
  type UrlExplanation,
} from '../../answers/explanation.ts';
import { explanationFields } from '../../answers/explanation-fields.ts';
import { profileSentence } from '../../answers/policy-fields.ts';
import type { DiagnosticRecord } from '../../answers/schema/policy.ts';
import { count } from '../../answers/text/layout.ts';
import { becauseSentences, reasonText } from '../../answers/text/reasons.ts';
import { groupText } from '../../answers/text/sentences.ts';
import {
  type ReportedDecision,
  VERDICT_NAMES,
  verdictKinds,
  type VerdictName,
  verdictName,
} from '../../answers/verdict.ts';
import { prose } from './document.ts';
import { type Content, type Markup, markup } from './markup.ts';

/** An answer about one URL and agent. */
export interface Result {
  readonly explanation: UrlExplanation;
  /** Those of the file. */
  readonly lines: readonly AnnotatedLine[];
  readonly diagnostics: readonly DiagnosticRecord[];
  readonly now: number;
}

/** The banner beside the line that decides, and the facts. */
export function summaryOf({ explanation, lines, now }: Result): Markup {
  const { decision } = explanation;
  const { robots, profile } = decision;
  const facts = [
    ...explanationFields(explanation, now),
    ['SHA-256', 'sha256' in robots ? robots.sha256 : undefined],
    ['profile', profile],
  ] as const;
  return markup`<div class="summary">${banner(decision, now)}${excerpt(lines, decision)}</div>
<dl class="facts">${facts.map(([label, text]) => text && markup`<dt>${label}</dt><dd>${prose(text)}</dd>`)}</dl>`;
}

/** Everything else about the answer, in sections that are closed at first. */
export function detailsOf({ explanation, lines, diagnostics }: Result): Markup {
  const { underProfiles } = explanation;
  return markup`${lines.length > 0 && listing(lines, explanation, diagnostics)}
${diagnostics.length > 0 && notes(diagnostics)}
${underProfiles.length > 0 && folded('If a crawler follows other rules', profileTable(underProfiles))}`;
}

function folded(title: string, content: Content): Markup {
  return markup`<details class="card"><summary><h2>${title}</h2></summary>${content}</details>`;
}

/** Text from outside, whose direction does not affect the text around it. */
function foreign(text: string): Markup {
  return markup`<bdi class="foreign">${printable(text)}</bdi>`;
}

/** A text in the tone of a verdict. */
function marked(name: VerdictName, text: string = verdictKinds[name].title): Markup {
  return markup`<span class="verdict ${name}"><span aria-hidden="true">${verdictKinds[name].sign} </span>${text}</span>`;
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

/** A table that scrolls sideways by itself when it is wider than the page. */
function table(name: string, label: string, columns: readonly Content[], rows: Content): Markup {
  const head = markup`<thead><tr>${columns.map((each) => markup`<th scope="col">${each}</th>`)}</tr></thead>`;
  return markup`<div class="scroll" tabindex="0" role="region" aria-label="${label}">
<table class="${name}">${columns.length > 0 && head}<tbody>${rows}</tbody></table></div>`;
}

/**
 * The verdicts for several agents.
 *
 * @param linkTo The address of the same question for an agent.
 */
export function agentTable(
  decisions: readonly ReportedDecision[],
  purpose: Purpose | undefined,
  linkTo: (agent: string) => string,
): Markup {
  const rows = decisions.map((decision, index) => {
    const { agent, group } = decision;
    const current = index === 0 && markup` aria-current="true"`;
    return markup`<tr><th scope="row"><a class="button" href="${linkTo(agent)}"${current}>${foreign(agent)}</a></th>
<td>${marked(verdictName(decision))}</td><td class="why">${reasonText(decision)}</td>
<td class="of">${group === undefined ? '–' : groupText(group)}</td></tr>`;
  });
  const title = `Agents side by side${purpose === undefined ? '' : `, for ${purpose}`}`;
  return markup`<section><h2>${title}</h2>${table('agents', 'Verdicts by agent', ['Agent', 'Verdict', 'Why', 'Group'], rows)}</section>`;
}

/** The verdicts for several URLs and agents. A press of a button asks the question of the form again, and shows that verdict. */
export function matrixOf(
  agents: readonly string[],
  rows: readonly {
    readonly input: string;
    readonly verdicts?: readonly Pick<ReportedDecision, 'allowed' | 'reason' | 'rule'>[];
    readonly error?: { readonly message: string };
  }[],
  shown: readonly [row: number, column: number],
): Markup {
  const counts = new Map<VerdictName, number>();
  const body = rows.map(({ input, verdicts = [], error }, row) => {
    const cells = verdicts.map((verdict, column) => {
      const name = verdictName(verdict);
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const isShown = row === shown[0] && column === shown[1];
      return markup`<td><span class="phone">${foreign(agents[column] ?? '')} </span><button form="question" name="show" value="${row} ${column}" aria-pressed="${String(isShown)}">
${marked(name)} ${verdict.rule && markup`<span class="at">line ${verdict.rule.line}</span>`}</button></td>`;
    });
    const wrong = error && markup`<td class="wrong" colspan="${agents.length}">${error.message}</td>`;
    return markup`<tr><th scope="row">${foreign(input)}</th>${wrong ?? cells}</tr>`;
  });
  const kinds = VERDICT_NAMES.filter((name) => counts.has(name)).map(
    (name) => `${counts.get(name)?.toLocaleString('en')} ${name}`,
  );
  const columns = ['URL', ...agents.map(foreign)];
  return markup`<div class="summary"><div class="banner plain"><p class="big">${kinds.join(', ')}</p><p>${count(rows.length, 'URL')}</p></div></div>
<section><h2>Verdicts</h2>${table('matrix', 'Verdicts by URL and agent', columns, body)}</section>`;
}

function profileTable(decisions: readonly ProfileDecision[]): Markup {
  const rows = decisions.map((decision) => {
    const { profile, allowed } = decision;
    const isOpen = allowed === undefined || ('reason' in decision && decision.reason === 'unreachable');
    const name = isOpen ? 'undecided' : allowed ? 'allowed' : 'disallowed';
    return markup`<tr><th scope="row"><code>${profile}</code></th><td>${marked(name, profileSentence(decision))}</td></tr>`;
  });
  return table('', 'Verdicts by profile', ['Profile', 'Verdict'], rows);
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
  diagnostics: readonly DiagnosticRecord[],
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

function noteMark(diagnostics: readonly DiagnosticRecord[], index: number): Markup | undefined {
  const diagnostic = diagnostics[index];
  if (diagnostic === undefined) return undefined;
  const { severity, message } = diagnostic;
  const { sign, word } = SEVERITIES[severity];
  const label = `${word}: ${printable(message)}`;
  return markup`<a class="mark ${severity}" href="#note-${index}" title="${label}" aria-label="${label}">${sign}</a>`;
}

function notes(diagnostics: readonly DiagnosticRecord[]): Markup {
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
  return folded(`Notes on this file${counts.join('')}`, markup`<ol class="notes">${items}</ol>`);
}
