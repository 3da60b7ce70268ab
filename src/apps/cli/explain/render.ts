import {
  annotate,
  type AnnotatedLine,
  type OmittedLines,
  type ProfileDecision,
  type UrlExplanation,
} from '../../answers/explanation.ts';
import type { ReportedDecision } from '../../answers/input/targets.ts';
import { count, definitions, type Field, type Palette, truncateToWidth } from '../../answers/text/layout.ts';
import { fileName, printable, quoted } from '../../../core/base/index.ts';
import type { AskedPage } from './page.ts';
import { delaySentence, ruleText } from '../../answers/text/sentences.ts';
import { type RobotsFile, usage } from '../../../core/rules/index.ts';
import { answerFields, fileFields, purposeText, verdictLine } from '../check/run.ts';
import {
  verboseHops,
  attemptFields,
  otherProfiles,
  stateSentence,
  type PolicyLayout,
  sizeSentence,
} from '../policy/run.ts';

const PURPOSES = ['train-ai', 'ai-use', 'ai-input', 'search'] as const;

/** Usage preferences that the site states for the page; `undefined` when it states none. They do not affect fetching. */
function usageSentence({ file, decision }: UrlExplanation): string | undefined {
  if (file === undefined || decision.reason === 'robots-txt') return undefined;
  const stated = usage(file, decision.url, decision.agent);
  if (stated.sources.length === 0) return undefined;
  const purposes = PURPOSES.flatMap((purpose) =>
    stated[purpose] === 'unknown' ? [] : [`${purpose} ${stated[purpose] === 'allow' ? 'yes' : 'no'}`],
  );
  const lines = stated.sources.flatMap(({ line }) => (line === undefined ? [] : [line]));
  const parts = [
    ...purposes,
    ...(stated.use === undefined ? [] : [`use ${stated.use}`]),
    ...stated.licenses.slice(0, 3).map((license) => `licence ${printable(license)}`),
  ];
  const what = parts.length === 0 ? 'nothing readable' : parts.join(', ');
  const specifications = [...new Set(stated.sources.map(({ specification }) => specification))].join('; ');
  return `${what} (${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 5).join(', ')}, read by ${specifications}; reported, not enforced)`;
}

/** An explanation; with `--page` also what the page states about its use. */
export type PageExplanation = UrlExplanation & Partial<AskedPage>;

export interface ExplanationLayout extends PolicyLayout {
  /** Whether to show every line of a long file. */
  readonly all: boolean;
}

/** Renders an explanation as text. */
export function renderExplanation(explanation: PageExplanation, layout: ExplanationLayout): string {
  const { decision, policy, underProfiles, file, redirected, pageFields = [] } = explanation;
  const { colours, width, verbose } = layout;
  const [agent, rule] = answerFields(decision);
  const fields: Field[] = [
    agent,
    redirected === undefined ? rule : ruleOfFirstUrl(decision),
    ...circumstanceFields(explanation),
    ...originFields(explanation, layout),
    ['delay', delaySentence(decision.crawlDelayMs)],
    ['purpose', purposeText(decision)],
    ['use', usageSentence(explanation)],
    ...pageFields,
  ];
  const hops = verbose && policy?.attempt !== undefined ? verboseHops(policy.attempt) : [];
  const others = underProfiles.map((each): Field => [each.profile, profileSentence(each)]);
  return `${[
    verdictLine({ ...(redirected ?? decision), url: decision.url }, colours),
    ...definitions(fields, width, colours.faint),
    ...(hops.length === 0 ? [] : ['', ...hops.map((line) => `  ${line}`)]),
    ...(file === undefined ? [] : ['', ...fileLines({ ...explanation, file }, layout)]),
    ...otherProfiles(others, { colours, width }),
  ].join('\n')}\n`;
}

/** If a redirect of an allowed URL is refused, the rule does not decide. */
function ruleOfFirstUrl({ rule }: ReportedDecision): Field {
  return ['rule', `${rule === undefined ? 'no rule matches' : ruleText(rule)}; its redirect is refused`];
}

function circumstanceFields({ runnerUp, nearMiss, runsOn, star }: UrlExplanation): Field[] {
  const starRule = star?.rule === undefined ? '' : `, by ${ruleText(star.rule)}`;
  return [
    ['beats', runnerUp && `${ruleText(runnerUp.rule)}, ${whyLost[runnerUp.lost]}`],
    [
      'but',
      star &&
        `"*" is ${star.allowed ? 'allowed' : 'disallowed'}${starRule}; a group that names the agent replaces it`,
    ],
    [
      'group',
      runsOn &&
        `it began on line ${runsOn.from}: ${quoted(runsOn.directive)} on line ${runsOn.line} does not end a group`,
    ],
    ['close', nearMiss && `${ruleText(nearMiss.rule)}, ${whyMissed[nearMiss.differs]}`],
  ];
}

const whyMissed = {
  case: 'but for the case of its letters',
  slash: 'but for the slash at the end of the path',
  start: 'which starts at the root of the site alone',
} as const;

const whyLost = {
  shorter: 'which is shorter',
  tie: 'which is as long: allow goes before disallow, and the first line before others',
  later: 'which comes later: the first match decides',
} as const;

function originFields({ decision, policy }: UrlExplanation, { now }: ExplanationLayout): Field[] {
  if (policy === undefined) {
    if ('finalUrl' in decision.robots) return [];
    return [['robots', fileName(decision.robots.file)], ...fileFields(decision)];
  }
  if (decision.reason === 'robots-txt') return [['why', '/robots.txt itself may always be fetched']];
  const { file } = policy;
  return [...attemptFields(policy, now), ['file', file && sizeSentence(file)]];
}

function fileLines(
  explanation: UrlExplanation & { readonly file: RobotsFile },
  { all, colours, width }: ExplanationLayout,
): string[] {
  const lines = annotate(explanation, all);
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

function profileSentence(decision: ProfileDecision): string {
  if (decision.allowed === undefined) return stateSentence(decision);
  const verdict = decision.allowed ? 'allowed' : 'disallowed';
  if (decision.line !== undefined) return `${verdict} by line ${decision.line}`;
  return decision.state === 'rules' || decision.state === 'last-good'
    ? verdict
    : `${verdict}: ${stateSentence(decision)}`;
}
