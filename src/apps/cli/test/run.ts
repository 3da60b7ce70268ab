import { profiles } from '../../../core/lifecycle/index.ts';
import {
  absenceOf,
  isUrl,
  type LoadedRobots,
  openList,
  assertStdinOnce,
  rulesInForce,
  type RulesInForce,
} from '../../answers/input/load-robots.ts';
import { fileSource, truncationWarning, notATarget, tokensOf } from '../../answers/decide.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { agentSentence, looksSentence, ruleText } from '../../answers/text/sentences.ts';
import { count, type Palette, paletteFor } from '../../answers/text/layout.ts';
import {
  fileName,
  jsonLine,
  omitUndefined,
  printable,
  type Unversioned,
  quoted,
} from '../../../core/base/index.ts';
import { Output } from '../../answers/text/output.ts';
import type { TestLine } from '../../answers/schema/lines.ts';
import { originOf } from '../../../core/url/index.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { loadRobots } from '../frame/open-client.ts';
import { onlineSettings, onlyOperand, readFormat, isAgent } from '../frame/settings.ts';
import type { Readable } from 'node:stream';
import { type Target, targetLines } from '../../answers/input/targets.ts';
import type { Verdict } from '../../../core/rules/index.ts';

/** Compares the verdicts of a robots.txt with expectations, and prints those that are not met. */
export async function testRobots(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const operand = onlyOperand(given, 'a file, an origin, or "-" for standard input');
  const list = given.values.get('expect')?.[0];
  if (list === undefined) {
    throw new UsageError('Expected --expect with the file of expectations, got none; write --expect FILE');
  }
  const format = readFormat(given);
  const settings = onlineSettings(given);
  assertStdinOnce([operand, list]);
  const lines = await openList(list, 'a file of expectations', session, session.signal);
  const expectations = await readExpectations(lines, list);
  const output = new Output(session.stdout);
  const loaded = await loadRobots(operand, settings, session);
  const rules = rulesInForce(loaded, profiles[settings.profile].dialect);
  if (rules === undefined) {
    session.stderr.write(`canfetch: ${absenceOf(loaded) ?? ''}\n`);
    return exitCode.undecided;
  }
  warn(loaded, session);
  const file: TestedFile = omitUndefined({
    list,
    name: loaded.name,
    url: loaded.kind === 'file' ? loaded.url : undefined,
    origin: isUrl(operand) ? originOf(operand) : undefined,
    ...rules,
  });
  const tested = expectations.map((expectation) => testExpectation(expectation, file));
  const failures = tested.filter(({ met }) => !met);
  if (format === 'json')
    for (const each of tested) await output.write(jsonLine<TestLine>(testRecord(file, each)));
  if (format === 'text') {
    const colours = paletteFor(session);
    for (const each of failures) await output.write(renderFailure(file, each, colours));
    await output.write(renderSummary(tested.length, failures.length));
  }
  await output.release();
  return failures.length === 0 ? exitCode.success : exitCode.negative;
}

/** Warns of a file that is truncated or does not look like a robots.txt: it then has fewer rules than its owner wrote. */
function warn(loaded: LoadedRobots, session: Session): void {
  if (loaded.kind === 'none') return;
  const { name, body, truncated } = loaded;
  const { suspect } = fileSource(name, body, truncated);
  if (truncated) session.stderr.write(`canfetch: ${truncationWarning(name)}\n`);
  if (suspect !== undefined) {
    session.stderr.write(`canfetch: ${fileName(name)} looks ${looksSentence(suspect)}\n`);
  }
}

/** Renders an expectation that is not met as text, with the line of robots.txt that decides. */
function renderFailure(file: TestedFile, tested: TestedExpectation, colours: Palette): string {
  const applies = applyingGroup(file, tested);
  const rows = [
    ['decides', decidingLine(file, tested)],
    ...(applies === undefined ? [] : [['agent', applies]]),
  ];
  return `${[
    `${colours.bad('FAILED')}  ${fileName(file.list)}:${tested.line}  ${expectationText(tested)}`,
    ...rows.map(([label = '', text = '']) => `  ${colours.faint(label.padEnd(7))} ${text}`),
  ].join('\n')}\n`;
}

function expectationText({ expected, agent, input }: TestedExpectation): string {
  return `${expected} ${printable(agent)} ${printable(input)}`;
}

/** The line that decides as `FILE:LINE`, which editors and terminals turn into a link, or why there is none. */
function decidingLine({ name, url, because }: TestedFile, { verdict }: TestedExpectation): string {
  if (because !== undefined) return because;
  const { rule, reason } = verdict;
  if (rule !== undefined) return `${fileName(url ?? name)}:${ruleText(rule).replace(/^line /, '')}`;
  if (reason === 'robots-txt') return '/robots.txt itself may always be fetched';
  return 'no rule matches, so it is allowed';
}

/** The group that applies to the agent; `undefined` when none is asked. */
function applyingGroup({ because }: TestedFile, { agent, verdict }: TestedExpectation): string | undefined {
  const { group, reason } = verdict;
  if (because !== undefined || reason === 'robots-txt') return undefined;
  return agentSentence(agent, group, reason === 'no-group');
}

/** Renders how many expectations are met. */
function renderSummary(total: number, failed: number): string {
  if (failed === 0) return `${count(total, 'expectation')} met\n`;
  return `${failed.toLocaleString('en')} of ${total.toLocaleString('en')} expectations not met\n`;
}

/** Converts a tested expectation to plain data. */
function testRecord(
  { name, url, list, because }: TestedFile,
  { expected, agent, input, line, met, verdict }: TestedExpectation,
): Unversioned<TestLine> {
  const { allowed, reason, rule, group } = verdict;
  return {
    file: list,
    line,
    expected,
    agent,
    input,
    met,
    robots: url ?? name,
    allowed,
    ...(because === undefined ? { reason, rule, group } : { because }),
  };
}

/** One line of a file of expectations: the expected verdict for an agent and a URL. */
interface Expectation {
  readonly expected: 'allow' | 'disallow';
  /** A product token, a User-Agent string or `*`. */
  readonly agent: string;
  /** A URL, or a path that starts with `/`. */
  readonly input: string;
  /** Line number in the file of expectations, 1-based. */
  readonly line: number;
}

/**
 * Reads expectations, one per line: `allow AGENT URL` or `disallow AGENT URL`.
 *
 * @param name The name of the file, for error messages.
 * @throws UsageError for a line that is not an expectation, and when there is no expectation.
 */
async function readExpectations(lines: Readable, name: string): Promise<readonly Expectation[]> {
  const expectations: Expectation[] = [];
  for await (const batch of targetLines(lines)) {
    for (const line of batch) expectations.push(readExpectation(line, name));
  }
  // A test that tests nothing must not succeed.
  if (expectations.length > 0) return expectations;
  throw new UsageError(
    `Expected lines such as "allow Googlebot /p" in ${fileName(name)}, got none; add at least one`,
  );
}

/** The agent may be a User-Agent string with spaces: everything between the first word and the last. */
const EXPECTATION = /^(allow|disallow)\s+(\S.*?)\s+(\S+)$/i;

function readExpectation({ input, line = 1, tooLong }: Target, name: string): Expectation {
  const text = input.replace(/\s#.*$/, '').trimEnd();
  const [, verb = '', agent = '', url = ''] = (tooLong !== true && EXPECTATION.exec(text)) || [];
  if (!isAgent(agent)) {
    throw new UsageError(
      `Expected "allow AGENT URL" or "disallow AGENT URL" on line ${line} of ${fileName(name)}, got ${quoted(text)}; ` +
        'write for example: disallow Googlebot /search',
    );
  }
  return { expected: verb.toLowerCase() === 'allow' ? 'allow' : 'disallow', agent, input: url, line };
}

/** The robots.txt under test. */
interface TestedFile extends RulesInForce {
  /** File name or URL as given. */
  readonly name: string;
  /** The URL that the file was fetched from; absent for files on disk. */
  readonly url?: string;
  /** The origin whose file it is; absent for files on disk. */
  readonly origin?: string;
  /** Name of the file of expectations. */
  readonly list: string;
}

/** An expectation with the verdict of the file. */
interface TestedExpectation extends Expectation {
  readonly verdict: Verdict;
  /** Whether the verdict is the expected one. */
  readonly met: boolean;
}

/**
 * Compares an expectation with the verdict of a file.
 *
 * @throws UsageError when its URL is invalid, or of another origin than the file.
 */
function testExpectation(expectation: Expectation, tested: TestedFile): TestedExpectation {
  const { expected, agent, input, line } = expectation;
  const { file, origin, list } = tested;
  const where = `on line ${line} of ${fileName(list)}`;
  let verdict: Verdict;
  try {
    verdict = file.check(input, tokensOf([agent]));
  } catch (error) {
    throw new UsageError(`${notATarget(error, input).message} ${where}`, { cause: error });
  }
  if (origin !== undefined && !input.startsWith('/') && originOf(input) !== origin) {
    throw new UsageError(
      `Expected a path, or a URL of ${origin}, got ${quoted(input)} ${where}; other origins have rules of their own`,
    );
  }
  return { ...expectation, verdict, met: verdict.allowed === (expected === 'allow') };
}
