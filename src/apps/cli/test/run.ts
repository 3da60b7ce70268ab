import type { Readable } from 'node:stream';
import { fileName, jsonLine, printable, quoted, count } from '../../../core/base/index.ts';
import { profiles } from '../../../core/lifecycle/index.ts';
import { originOf } from '../../../core/url/index.ts';
import { deciderByFile, fileSource, truncationWarning } from '../../answers/decide.ts';
import { answerFields } from '../../answers/fields.ts';
import {
  absenceOf,
  assertStdinOnce,
  isUrl,
  type LoadedRobots,
  openList,
  rulesInForce,
} from '../../answers/input/load-robots.ts';
import { type Target, targetLines } from '../../answers/input/targets.ts';
import { type Session, UsageError, write } from '../../answers/session.ts';
import { definitions, type Field } from '../../answers/text/layout.ts';
import { whySentence, looksSentence } from '../../answers/text/sentences.ts';
import type { FileSource } from '../../answers/verdict.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { loadRobots } from '../frame/open-client.ts';
import { isAgent, layoutOf, onlineSettings, onlyOperand, readFormat } from '../frame/settings.ts';

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
  const loaded = await loadRobots(operand, settings, session);
  const rules = rulesInForce(loaded, profiles[settings.profile].dialect);
  if (rules === undefined) {
    session.stderr.write(`canfetch: ${absenceOf(loaded) ?? ''}\n`);
    return exitCode.undecided;
  }
  const robots = sourceOf(loaded);
  warn(robots, session);
  const origin = isUrl(operand) ? originOf(operand) : undefined;
  const { because } = rules;
  const tested = expectations.map((expectation) => {
    const where = `on line ${expectation.line} of ${fileName(list)}`;
    assertOrigin(expectation.input, origin, where);
    const question = { agents: [expectation.agent], profile: settings.profile, robots };
    const result = deciderByFile(rules.file, question)({ input: expectation.input });
    if ('error' in result) throw new UsageError(`${result.error.message} ${where}`);
    const { decision } = result;
    return { ...expectation, decision, met: decision.allowed === (expectation.expected === 'allow') };
  });
  const failures = tested.filter(({ met }) => !met);
  if (format === 'json') {
    for (const { decision, ...each } of tested) {
      const { allowed, reason, rule, group } = decision;
      const decided = because === undefined ? { reason, rule, group } : { because };
      await write(
        session.stdout,
        jsonLine({ file: list, ...each, robots: robots.file, allowed, ...decided }),
      );
    }
  }
  if (format === 'text') {
    const { colours, width } = layoutOf(session);
    for (const { expected, agent, input, line, decision } of failures) {
      const failure = `${fileName(list)}:${line}  ${expected} ${printable(agent)} ${printable(input)}`;
      const why: readonly Field[] = [...answerFields(decision, rules.file), ['why', whySentence(decision)]];
      const fields: readonly Field[] = [
        ...(because === undefined ? why : [['why', because] as const]),
        ['robots', fileName(robots.file)],
      ];
      const rows = definitions(fields, width, colours.faint);
      await write(session.stdout, `${[`${colours.bad('FAILED')}  ${failure}`, ...rows].join('\n')}\n`);
    }
    await write(session.stdout, summaryOf(tested.length, failures.length));
  }
  return failures.length === 0 ? exitCode.success : exitCode.negative;
}

/** The file under test. Of an origin without one: its URL. */
function sourceOf(loaded: LoadedRobots): FileSource {
  if (loaded.kind === 'none') return { file: loaded.name, source: 'file' };
  return fileSource(loaded.url ?? loaded.name, loaded.body, loaded.truncated);
}

/** Warns of a file that is truncated or does not look like a robots.txt: it then has fewer rules than its owner wrote. */
function warn({ file, truncated, suspect }: FileSource, { stderr }: Session): void {
  if (truncated) stderr.write(`canfetch: ${truncationWarning(file)}\n`);
  if (suspect !== undefined) {
    stderr.write(`canfetch: ${fileName(file)} looks ${looksSentence(suspect)}\n`);
  }
}

/** Says how many expectations are met. */
function summaryOf(total: number, failed: number): string {
  if (failed === 0) return `${count(total, 'expectation')} met\n`;
  return `${failed.toLocaleString('en')} of ${total.toLocaleString('en')} expectations not met\n`;
}

/** @throws UsageError for a URL of another origin than the file's. */
function assertOrigin(input: string, origin: string | undefined, where: string): void {
  if (origin === undefined || input.startsWith('/') || !URL.canParse(input) || originOf(input) === origin)
    return;
  throw new UsageError(
    `Expected a path, or a URL of ${origin}, got ${quoted(input)} ${where}; other origins have rules of their own`,
  );
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
