import { omitUndefined, jsonLine, printable, count } from '../../../core/base/index.ts';
import { decideOffline } from '../../answers/decide.ts';
import {
  annotateAll,
  type AnnotatedLine,
  explainFile,
  explainUrl,
  type FileExplanation,
  type OmittedLines,
  shorten,
  type UrlExplanation,
} from '../../answers/explanation.ts';
import { explanationFields } from '../../answers/fields.ts';
import { isUndecided, isUnwanted, type ReportedDecision } from '../../answers/verdict.ts';
import { type Session, UsageError, write } from '../../answers/session.ts';
import { explanationRecord } from '../../answers/text/json.ts';
import {
  definitions,
  type Field,
  type Palette,
  truncateToWidth,
  verdictLine,
} from '../../answers/text/layout.ts';
import { ruleText } from '../../answers/text/sentences.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import {
  agentOf,
  type Layout,
  layoutOf,
  onlyOperand,
  readFormat,
  type OnlineSettings,
  onlineSettings,
} from '../frame/settings.ts';
import type { AskedPage } from './page.ts';

/** Decides one URL, and prints the decision with everything that it depends on. */
export async function explain(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const url = onlyOperand(given, 'a URL');
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  if (file === undefined) readOrigin(url);
  else if (given.switches.has('page')) {
    throw new UsageError(
      'Expected --page without --robots, which asks no site, got both; leave one of them out',
    );
  }
  const explanation =
    file === undefined
      ? await askAndExplain(url, settings, session, given.switches.has('page'))
      : await readAndExplain(url, settings, session, file);
  await write(
    session.stdout,
    readFormat(given) === 'json'
      ? explanationJson(url, explanation)
      : renderExplanation(explanation, {
          ...layoutOf(session),
          all: given.switches.has('all'),
        }),
  );
  // A page whose redirect is refused may not be fetched, even if robots.txt allows its own URL.
  const decisive = explanation.redirected ?? explanation.decision;
  if (isUndecided(decisive)) return exitCode.undecided;
  return decisive.allowed && !isUnwanted(decisive) ? exitCode.success : exitCode.negative;
}

async function askAndExplain(
  url: string,
  settings: OnlineSettings,
  session: Session,
  readsPage: boolean,
): Promise<PageExplanation> {
  const { purpose } = settings;
  const { signal } = session;
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const explanation = await explainUrl(client, url, { agent: agentOf(settings), purpose, signal });
  const { decision } = explanation;
  if (!readsPage) return explanation;
  const { askPage } = await import('./page.ts');
  const { asked, usage } = await askPage(decision, opened, purpose, signal);
  return { ...explanation, ...asked, decision: { ...decision, ...omitUndefined({ usage }) } };
}

async function readAndExplain(
  url: string,
  settings: OnlineSettings,
  session: Session,
  file: string,
): Promise<PageExplanation> {
  const { rules, decide } = await decideOffline(file, settings, session);
  const result = decide({ input: url });
  if ('error' in result) throw new UsageError(result.error.message);
  return explainFile(result.decision, rules);
}

/** The line of JSON. */
function explanationJson(input: string, explanation: PageExplanation): string {
  const { page, pageFields: _, redirected: __, turnedAway: ___, ...plain } = explanation;
  return jsonLine({ ...explanationRecord(input, plain), page });
}

/** An explanation; with `--page` also what the page states about its use. */
type PageExplanation = UrlExplanation & Partial<AskedPage>;

interface ExplanationLayout extends Layout {
  /** Whether to show every line of a long file. */
  readonly all: boolean;
}

/** Renders an explanation as text. */
function renderExplanation(explanation: PageExplanation, layout: ExplanationLayout): string {
  const { decision, file, redirected, turnedAway, pageFields = [] } = explanation;
  const { colours, now, width } = layout;
  const fields = explanationFields(explanation, now).map((field) =>
    redirected !== undefined && field[0] === 'rule' ? ruleOfFirstUrl(decision) : field,
  );
  const beside = turnedAway === undefined ? '' : `  ${colours.unsure(`but ${turnedAway}`)}`;
  return `${[
    `${verdictLine({ ...(redirected ?? decision), url: decision.url }, colours)}${beside}`,
    ...definitions([...fields, ...pageFields], width, colours.faint),
    ...(file === undefined ? [] : ['', ...fileLines({ ...explanation, file }, layout)]),
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
