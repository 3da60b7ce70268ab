import type { Readable } from 'node:stream';
import { suspectOf } from '../lifecycle/challenge-pages.ts';
import { type ProfileName, profiles } from '../lifecycle/profile.ts';
import { isRobotsError } from '../base/index.ts';
import { productToken } from '../rules/agent.ts';
import type { RobotsFile } from '../rules/index.ts';
import { parseRobots } from '../rules/parse.ts';
import { type Answer, type Decider, type FileSource, type InputError, tooLongError } from './answer.ts';
import { printable, quoted } from './text/printable.ts';
import { readRobots } from './input/read-robots.ts';
import type { Target } from './input/targets.ts';

export interface FileSettings {
  /** In order of preference; this package's own name when empty. */
  readonly agents: readonly string[];
  readonly profile: ProfileName;
  /** Path, or `-` for standard input. */
  readonly file: string;
}

export interface OfflineOptions extends FileSettings {
  readonly stdin: Readable;
  /** Takes what is worth knowing about the file, one line each. */
  readonly warn: (message: string) => void;
}

const DEFAULT_AGENT = 'canfetch';

/**
 * Decides by a file, as if every target's origin had served it. It is read as far as a served one would be.
 *
 * @throws UsageError when the file cannot be read.
 */
export async function decideOffline({ stdin, warn, ...settings }: OfflineOptions): Promise<Decider> {
  const { agents, file, profile } = settings;
  const { body, truncated } = await readRobots(file, stdin, '--robots');
  if (truncated) warn(truncationWarning(file));
  const rules = parseRobots(body, { dialect: profiles[profile].dialect });
  const robots = fileSource(file, body, truncated);
  return {
    decide: deciderByFile(rules, { agents, profile, robots }),
    close: () => Promise.resolve(),
  };
}

export function truncationWarning(file: string): string {
  return `${printable(file)} is longer than crawlers must read (500 KiB); what follows is ignored`;
}

/** What is told of a file beside each decision by it. */
export function fileSource(file: string, body: Uint8Array, truncated: boolean): FileSource {
  const suspect = suspectOf({ status: 200, field: () => undefined, start: body, finalUrl: '', hops: 0 });
  return {
    file,
    ...(truncated ? { truncated } : {}),
    ...(suspect === undefined ? {} : { suspect }),
    source: 'file',
  };
}

/** Answers by a file, target by target. */
export function deciderByFile(
  rules: RobotsFile,
  { agents, profile, robots }: Pick<FileSettings, 'agents' | 'profile'> & { readonly robots: FileSource },
): (target: Target) => Answer {
  const agent = rules.chooseAgent(tokensOf(agents));
  const crawlDelayMs = rules.crawlDelay(agent);
  const delay = crawlDelayMs === undefined ? {} : { crawlDelayMs };
  return (target) => {
    const { input, tooLong } = target;
    if (tooLong === true) return { target, error: tooLongError };
    try {
      const verdict = rules.check(input, agent);
      const decision = { url: input, agent, profile, state: 'rules', robots, ...verdict } as const;
      return {
        target,
        decision:
          crawlDelayMs === undefined || verdict.reason === 'robots-txt'
            ? decision
            : { ...decision, ...delay },
      };
    } catch (error) {
      return { target, error: notATarget(error, input) };
    }
  };
}

/** What is wrong with `input`, which is neither URL nor path. Any other error than that is thrown on. */
export function notATarget(error: unknown, input: string): InputError {
  if (!isRobotsError(error) || error.code !== 'ERR_ROBOTS_INVALID_URL') throw error;
  const message = `Expected an absolute http, https or ftp URL, or a path that starts with "/", got ${quoted(input)}`;
  return { code: error.code, message };
}

/** What agents are compared by; this package's own name when there are none. */
export function tokensOf(agents: readonly string[]): readonly string[] {
  return agents.length === 0 ? [DEFAULT_AGENT] : agents.map((each) => productToken(each) ?? each);
}
