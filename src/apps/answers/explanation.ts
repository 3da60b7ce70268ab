import { omitUndefined } from '../../core/base/index.ts';
import { explain, type Explanation, type RobotsFile } from '../../core/rules/index.ts';
import type { RobotsClient } from '../../core/client/index.ts';
import type { Decision, OriginPolicy, Purpose } from '../../core/decision/index.ts';
import type { Agent } from '../../core/decision/agent-tokens.ts';
import type { ReportedDecision } from './verdict.ts';

/** A decision with everything that it depends on. */
export interface UrlExplanation extends Omit<Explanation, 'verdict'> {
  readonly decision: ReportedDecision;
  /** The file whose rules decided. */
  readonly file?: RobotsFile;
  /** The policy of the origin; absent when the decision was made with a file on disk. */
  readonly policy?: OriginPolicy;
}

interface Asking {
  readonly agent: Agent | undefined;
  readonly purpose?: Purpose | undefined;
  readonly signal: AbortSignal;
}

/** Asks a client for the decision about a URL, and for everything that it depends on. */
export async function explainUrl(
  client: Pick<RobotsClient, 'check' | 'policy'>,
  url: string,
  { agent, purpose, signal }: Asking,
): Promise<UrlExplanation & { readonly decision: Decision }> {
  const policy = await client.policy(url, omitUndefined({ signal, agent }));
  const decision = await client.check(url, agent, omitUndefined({ signal, purpose }));
  const held = decision.state === 'rules' || decision.state === 'last-good' ? policy.rules : undefined;
  return { decision, ...circumstancesOf(decision, held), ...omitUndefined({ file: held }), policy };
}

/** Explains a decision made with a file on disk. */
export function explainFile(decision: ReportedDecision, file: RobotsFile): UrlExplanation {
  return { decision, file, ...circumstancesOf(decision, file) };
}

/** What the rules of a file say besides the verdict. */
function circumstancesOf(
  { url, agent, reason }: ReportedDecision,
  file: RobotsFile | undefined,
): Omit<Explanation, 'verdict'> {
  if (file === undefined || (reason !== 'rule' && reason !== 'no-rule')) return {};
  const { verdict: _, ...circumstances } = explain(file, url, agent);
  return circumstances;
}

/** An explanation by the rules of a file. */
export type FileExplanation = UrlExplanation & { readonly file: RobotsFile };

/** A line of a file, and its role in the decision. */
export interface AnnotatedLine {
  /** Line number, 1-based. */
  readonly line: number;
  /** Text as in the file; U+FFFD replaces invalid UTF-8. */
  readonly text: string;
  /** Whether the line belongs to the group that applies: its user-agent lines, its rules and its other records. */
  readonly inGroup: boolean;
  readonly role?: 'decides' | 'runner-up';
}

/** A run of omitted lines, which do not affect the decision. */
export interface OmittedLines {
  readonly omitted: number;
}

/** Files with at most this many lines are shown completely. */
const SHORT_FILE = 60;
const CONTEXT = 2;
/** When the group is spread over more places than this, only the first are shown. */
const MAX_PLACES = 20;

/** Annotates every line of a file. */
export function annotateAll({ decision, runnerUp, file }: FileExplanation): AnnotatedLine[] {
  const inGroup = decision.group === undefined ? new Set() : groupLines(file, decision.agent);
  return linesOf(file.bytes).map((text, index): AnnotatedLine => {
    const line = index + 1;
    const common = { line, text, inGroup: inGroup.has(line) };
    if (line === decision.rule?.line) return { ...common, role: 'decides' };
    return line === runnerUp?.rule.line ? { ...common, role: 'runner-up' } : common;
  });
}

/** Of a file with more than `maxLines` lines only those around the deciding ones. */
export function shorten(
  lines: readonly AnnotatedLine[],
  { decision, runnerUp }: UrlExplanation,
  maxLines: number = SHORT_FILE,
): readonly (AnnotatedLine | OmittedLines)[] {
  if (lines.length <= maxLines) return lines;
  const places = [
    ...[decision.rule?.line, runnerUp?.rule.line].filter((line) => line !== undefined),
    ...(decision.group?.lines ?? []),
  ].slice(0, MAX_PLACES);
  // No line affects the decision: show the beginning of the file.
  const isShown = (line: number): boolean =>
    places.length === 0 ? line <= SHORT_FILE : places.some((place) => Math.abs(place - line) <= CONTEXT);
  const shown: (AnnotatedLine | OmittedLines)[] = [];
  let omitted = 0;
  for (const each of lines) {
    if (!isShown(each.line)) omitted++;
    else {
      if (omitted > 0) shown.push({ omitted });
      omitted = 0;
      shown.push(each);
    }
  }
  return omitted > 0 ? [...shown, { omitted }] : shown;
}

/** Splits a file into lines at LF, CR or CRLF. */
export function linesOf(bytes: Uint8Array): string[] {
  const lines = new TextDecoder().decode(bytes).split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** Line numbers of the groups that apply to `agent`: their user-agent lines, rules and other records. */
export function groupLines(file: RobotsFile, agent: string): ReadonlySet<number> {
  const all = new Set(file.rulesetFor(agent).group?.lines);
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
