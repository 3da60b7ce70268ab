import { coloursOf, onlineSettings, readFormat } from '../frame/settings.ts';
import { profiles } from '../../../core/lifecycle/index.ts';
import { isRobotsError, TimeSlice, fileName, jsonLine, printable, quoted } from '../../../core/base/index.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { count, type Palette } from '../../answers/text/layout.ts';
import { ruleText } from '../../answers/text/sentences.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { tokensOf } from '../../answers/decide.ts';
import {
  type AgentDifference,
  type ComparedFile,
  FileComparison,
  type RecordChange,
  type SideVerdict,
  type VerdictChange,
} from '../../answers/comparison/compare.ts';
import type { RuleChange } from '../../answers/comparison/rule-changes.ts';
import { absenceOf, assertStdinOnce, rulesInForce } from '../../answers/input/load-robots.ts';
import { type Target, targets } from '../../answers/input/targets.ts';
import type { ComparisonResult } from '../../answers/schema.ts';
import { RobotsLoader } from '../frame/open-client.ts';
import type { RobotsFile } from '../../../core/rules/index.ts';

/** Compares two files, and prints the changes. */
export async function diffFiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const operands = readOperands(given);
  const urls = given.values.get('url') ?? [];
  const settings = onlineSettings(given);
  const { dialect } = profiles[settings.profile];
  assertStdinOnce([...operands, ...urls]);
  const { signal } = session;
  await using loader = new RobotsLoader(settings, session);
  const sides: Side[] = [];
  for (const operand of operands) {
    const loaded = await loader.load(operand);
    const rules = rulesInForce(loaded, dialect);
    if (rules !== undefined) sides.push({ name: loaded.name, ...rules });
    else session.stderr.write(`canfetch: ${absenceOf(loaded) ?? ''}\n`);
  }
  const [before, after] = sides;
  if (before === undefined || after === undefined) return exitCode.usage;
  const agents = settings.agents.length === 0 ? [] : tokensOf(settings.agents);
  const comparison = await FileComparison.of(before.file, after.file, agents, new TimeSlice(signal));
  for await (const batch of targets(urls, session.stdin)) {
    for (const target of batch) tryTarget(comparison, target);
  }
  signal.throwIfAborted();
  await writeWhole(
    session.stdout,
    readFormat(given) === 'json'
      ? jsonLine<ComparisonResult>(comparison.record(before, after))
      : renderComparison(before, after, comparison, coloursOf(given, session)),
  );
  return comparison.same ? exitCode.success : exitCode.negative;
}

function readOperands({ operands }: ParsedArguments): readonly [string, string] {
  const [before, after, another] = operands;
  if (before === undefined || after === undefined) {
    throw new UsageError(`Expected two files or origins, got ${operands.length === 0 ? 'none' : 'one'}`);
  }
  if (another !== undefined) {
    throw new UsageError(`Expected two files or origins, got ${quoted(another)} too; leave one of them out`);
  }
  return [before, after];
}

function tryTarget(comparison: FileComparison, { input, line, tooLong }: Target): void {
  try {
    if (tooLong !== true) {
      comparison.probe(input);
      return;
    }
  } catch (error) {
    if (!isRobotsError(error)) throw error;
  }
  const where = line === undefined ? '' : ` on line ${line}`;
  throw new UsageError(
    `Expected an absolute URL, or a path that starts with "/", got ${quoted(input)}${where}`,
  );
}

/** One of the two compared files, with its rules. */
export interface Side extends ComparedFile {
  readonly file: RobotsFile;
}

const MAX_SHOWN = 50;
const MAX_AGENTS_SHOWN = 8;

/** Renders a comparison as text. */
function renderComparison(before: Side, after: Side, comparison: FileComparison, colours: Palette): string {
  const { differences, outsideGroups, agentsLeftOut, same } = comparison;
  const lines = [
    colours.bad(`--- ${nameOf(before)}`),
    colours.good(`+++ ${nameOf(after)}`),
    ...differences.flatMap((difference) => ['', ...differenceLines(difference, colours)]),
    ...(outsideGroups.length === 0 ? [] : ['', colours.strong('outside of groups')]),
    ...shown(outsideGroups, (change) => recordLine(change, colours)),
    ...(same ? ['No difference for any agent'] : []),
    ...(agentsLeftOut === 0
      ? []
      : ['', `${count(agentsLeftOut, 'other agent')} not compared; compare them with --agent`]),
  ];
  return `${lines.join('\n')}\n`;
}

function nameOf({ name, because }: Side): string {
  return because ?? fileName(name);
}

function differenceLines(difference: AgentDifference, colours: Palette): string[] {
  const { rules, records, flips, flipCount, redecidedCount } = difference;
  const flipLines = flips.slice(0, MAX_SHOWN).map((flip) => flipLine(flip, colours));
  return [
    colours.strong(`for ${agentList(difference.agents)}`),
    ...groupLines(difference),
    ...shown(rules, (change) => ruleLine(change, colours)),
    ...shown(records, (change) => recordLine(change, colours)),
    ...(flipCount === 0 ? [] : ['  URLs decided differently:']),
    ...flipLines,
    ...(flipCount > flipLines.length ? [`    and ${count(flipCount - flipLines.length, 'other')}`] : []),
    ...(redecidedCount === 0
      ? []
      : [`  ${count(redecidedCount, 'URL')} with the same decision by another rule`]),
  ];
}

function agentList(agents: readonly string[]): string {
  const names = agents.slice(0, MAX_AGENTS_SHOWN).map((agent) => printable(agent));
  const more = agents.length - MAX_AGENTS_SHOWN;
  return more > 0 ? `${names.join(', ')} and ${count(more, 'other')}` : names.join(', ');
}

function groupLines({ groupBefore, groupAfter }: AgentDifference): string[] {
  if (groupBefore?.toLowerCase() === groupAfter?.toLowerCase()) return [];
  const name = (group: string | undefined): string =>
    group === undefined ? 'no group' : `group ${quoted(group)}`;
  return [`  ${name(groupBefore)} → ${name(groupAfter)}`];
}

function ruleLine(change: RuleChange, colours: Palette): string {
  switch (change.kind) {
    case 'added':
      return colours.good(`  + ${ruleText(change.after)}`);
    case 'removed':
      return colours.bad(`  - ${ruleText(change.before)}`);
    case 'turned':
      return colours.unsure(`  ! ${ruleText(change.after)}, before ${ruleText(change.before)}`);
    case 'moved':
      return colours.unsure(
        `  ~ ${ruleText(change.after)}, before on line ${change.before.line}: the first match decides`,
      );
  }
}

function recordLine({ kind, record }: RecordChange, colours: Palette): string {
  const text = `line ${record.line}  ${printable(record.key)}: ${printable(record.value)}`;
  return kind === 'added' ? colours.good(`  + ${text}`) : colours.bad(`  - ${text}`);
}

function flipLine({ target, before, after }: VerdictChange, colours: Palette): string {
  const style = after.allowed ? colours.good : colours.bad;
  return `    ${printable(target)}  ${verdict(before)} → ${style(verdict(after))}`;
}

function verdict({ allowed, rule }: SideVerdict): string {
  const word = allowed ? 'allowed' : 'disallowed';
  return rule === undefined ? word : `${word} by line ${rule.line}`;
}

function shown<Item>(items: readonly Item[], line: (item: Item) => string): string[] {
  const lines = items.slice(0, MAX_SHOWN).map(line);
  return items.length > MAX_SHOWN
    ? [...lines, `  and ${count(items.length - MAX_SHOWN, 'other change')}`]
    : lines;
}
