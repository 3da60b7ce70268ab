import type { Readable } from 'node:stream';
import type { RulesInForce } from '../../answers/input/load-robots.ts';
import { type Target, targetLines } from '../../answers/input/targets.ts';
import { notATarget, tokensOf } from '../../answers/decide-offline.ts';
import { UsageError } from '../../answers/session.ts';
import { fileName, quoted } from '../../../core/base/printable.ts';
import type { Verdict } from '../../../core/rules/index.ts';
import { originOf } from '../../../core/url/index.ts';
import { isAgent } from '../frame/settings.ts';

/** One line of a file of expectations: the expected verdict for an agent and a URL. */
export interface Expectation {
  readonly expected: 'allow' | 'disallow';
  /** A product token, a User-Agent string, or `*`. */
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
export async function readExpectations(lines: Readable, name: string): Promise<readonly Expectation[]> {
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
export interface TestedFile extends RulesInForce {
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
export interface TestedExpectation extends Expectation {
  readonly verdict: Verdict;
  /** Whether the verdict is the expected one. */
  readonly met: boolean;
}

/**
 * Compares an expectation with the verdict of a file.
 *
 * @throws UsageError when its URL is invalid, or of another origin than the file.
 */
export function testExpectation(expectation: Expectation, tested: TestedFile): TestedExpectation {
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
