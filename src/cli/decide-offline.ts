import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type ProfileName, profiles } from '../access/index.ts';
import { isRobotsError } from '../errors.ts';
import { parseRobots, productToken } from '../rules/index.ts';
import { type Answer, type Decider, tooLongError } from './answer.ts';
import { printable, quoted } from './printable.ts';
import type { Target } from './targets.ts';
import { UsageError } from './usage-error.ts';

export interface OfflineOptions {
  /** In order of preference; this package's own name when empty. */
  readonly agents: readonly string[];
  readonly profile: ProfileName;
  /** Path, or `-` for standard input. */
  readonly file: string;
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
export async function decideOffline({
  agents,
  profile,
  file,
  stdin,
  warn,
}: OfflineOptions): Promise<Decider> {
  const { body, truncated } = await readRobots(file, stdin);
  if (truncated) {
    warn(`${printable(file)} is longer than crawlers must read (500 KiB); what follows is ignored`);
  }
  const rules = parseRobots(body, { dialect: profiles[profile].dialect });
  const wanted = agents.length === 0 ? [DEFAULT_AGENT] : agents;
  const agent = rules.chooseAgent(wanted.map((each) => productToken(each) ?? each));
  const crawlDelayMs = rules.crawlDelay(agent);

  const decide = (target: Target): Answer => {
    if (target.tooLong === true) return { target, error: tooLongError };
    try {
      const verdict = rules.check(target.input, agent);
      const robots = { file, source: 'file' } as const;
      const common = { url: target.input, agent, profile, state: 'rules', robots } as const;
      const delay = crawlDelayMs === undefined || verdict.reason === 'robots-txt' ? {} : { crawlDelayMs };
      return { target, ruling: { ...common, ...verdict, ...delay } };
    } catch (error) {
      if (!isRobotsError(error) || error.code !== 'ERR_ROBOTS_INVALID_URL') throw error;
      const message = `Expected an absolute http, https or ftp URL, or a path that starts with "/", got ${quoted(target.input)}`;
      return { target, error: { code: error.code, message } };
    }
  };
  return {
    decide: (target) => Promise.resolve(decide(target)),
    close: () => Promise.resolve(),
  };
}

/** Read by the same code, to the same limit, as what comes from a server. */
async function readRobots(file: string, stdin: Readable): Promise<{ body: Uint8Array; truncated: boolean }> {
  const { DEFAULT_MAX_BODY_BYTES, readBody } = await import('../fetch/body.ts');
  try {
    const body = file === '-' ? stdin : (await open(file)).createReadStream();
    const response = {
      status: 200,
      headers: { get: () => undefined },
      body,
      alreadyDecoded: true,
      discard: () => {},
    };
    return await readBody(response, DEFAULT_MAX_BODY_BYTES);
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    const todo = error.code === 'ENOENT' ? 'check the path' : 'give a file that can be read';
    throw new UsageError(
      `Expected --robots to name a robots.txt file, got ${quoted(file)} (${whyUnreadable(String(error.code))}); ${todo}`,
      { cause: error },
    );
  }
}

function whyUnreadable(code: string): string {
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EISDIR') return 'a directory';
  return code === 'EACCES' ? 'permission denied' : code;
}
