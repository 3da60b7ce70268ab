import { detectSuspect } from '../../core/lifecycle/challenge-pages.ts';
import { type ProfileName, profiles } from '../../core/lifecycle/profile.ts';
import {
  DEFAULT_AGENT,
  DEFAULT_MAX_BODY_BYTES,
  omitUndefined,
  isRobotsError,
  printable,
  quoted,
} from '../../core/base/index.ts';
import { productToken } from '../../core/rules/agent.ts';
import type { Purpose } from '../../core/decision/index.ts';
import type { Session } from './session.ts';
import type { RobotsFile } from '../../core/rules/index.ts';
import { parseRobots } from '../../core/rules/file.ts';
import { readRobots } from './input/load-robots.ts';
import type { FileDecision, FileSource } from './verdict.ts';
import { type InputError, type TargetResult, tooLongError, type Target } from './input/targets.ts';

interface FileSettings {
  /** Product tokens in order of preference. When empty, this package's own name is used. */
  readonly agents: readonly string[];
  readonly profile: ProfileName;
  /** The purpose of fetching the pages. Decisions then have `usage`. */
  readonly purpose: Purpose | undefined;
}

/** Adds what a file states about the use of a page to the decision about it. */
type AddUsage = (decision: FileDecision, file: RobotsFile) => FileDecision;

/** A file, and the decisions by its rules. */
export interface OfflineFile {
  readonly body: Uint8Array;
  readonly rules: RobotsFile;
  decide(target: Target): TargetResult<FileDecision>;
}

/**
 * Reads a file to decide by it, as if the origin of every target had served it. Its size limit is that of a fetched file.
 *
 * @param file Path, or `-` for standard input.
 * @throws UsageError when the file cannot be read.
 */
export async function decideOffline(
  file: string,
  { agents, profile, purpose }: FileSettings,
  { stdin, stderr }: Session,
): Promise<OfflineFile> {
  const { body, truncated } = await readRobots(file, stdin, '--robots');
  if (truncated) stderr.write(`canfetch: ${truncationWarning(file)}\n`);
  const rules = parseRobots(body, { dialect: profiles[profile].dialect });
  const settings = { agents, profile, robots: fileSource(file, body, truncated) };
  return { body, rules, decide: deciderByFile(rules, settings, purpose && (await usageFor(purpose))) };
}

/** Loaded only when a purpose is given: a decision about fetching needs less of the rules. */
export async function usageFor(purpose: Purpose): Promise<AddUsage> {
  const { usageOf } = await import('../../core/decision/index.ts');
  return (decision, file) => ({ ...decision, usage: usageOf(decision, file, purpose) });
}

export function truncationWarning(file: string): string {
  return `${printable(file)} is longer than crawlers must read (${DEFAULT_MAX_BODY_BYTES.toLocaleString('en')} bytes); what follows is ignored`;
}

/** Describes the file that decisions are made with. */
export function fileSource(file: string, body: Uint8Array, truncated: boolean): FileSource {
  const suspect = detectSuspect({ status: 200, field: () => undefined, start: body, finalUrl: '', hops: 0 });
  return omitUndefined({ file, truncated: truncated || undefined, suspect, source: 'file' });
}

/** Makes a decider that answers each target with the rules of a file. */
export function deciderByFile(
  rules: RobotsFile,
  { agents, profile, robots }: Pick<FileSettings, 'agents' | 'profile'> & { readonly robots: FileSource },
  addUsage?: AddUsage,
): OfflineFile['decide'] {
  const agent = rules.chooseAgent(tokensOf(agents));
  const crawlDelayMs = rules.crawlDelay(agent);
  const delay = crawlDelayMs === undefined ? {} : { crawlDelayMs };
  return (target) => {
    const { input, tooLong } = target;
    if (tooLong === true) return { target, error: tooLongError };
    try {
      const verdict = rules.check(input, agent);
      const plain = { url: input, agent, profile, state: 'rules', robots, ...verdict } as const;
      const decision =
        crawlDelayMs === undefined || verdict.reason === 'robots-txt' ? plain : { ...plain, ...delay };
      return { target, decision: addUsage === undefined ? decision : addUsage(decision, rules) };
    } catch (error) {
      return { target, error: notATarget(error, input) };
    }
  };
}

/** Converts the error for an `input` that is neither URL nor path. Any other error is thrown again. */
function notATarget(error: unknown, input: string): InputError {
  if (!isRobotsError(error) || error.code !== 'ERR_ROBOTS_INVALID_URL') throw error;
  const message = `Expected an absolute http, https or ftp URL, or a path that starts with "/", got ${quoted(input)}`;
  return { code: error.code, message };
}

/** Product tokens of the agents, for matching. When there are no agents, this package's own name is used. */
export function tokensOf(agents: readonly string[]): readonly string[] {
  const asked = agents.length === 0 ? [DEFAULT_AGENT] : agents;
  return asked.map((each) => productToken(each) ?? each);
}
