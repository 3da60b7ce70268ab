import type { Decision } from '../decision.ts';
import { quote, RobotsInvalidOptionsError } from '../errors.ts';
import { type Agent, agentTokens } from '../options.ts';

/** What every guard can be told. */
export interface GuardOptions {
  /** Who is asked about. @default the client's own agent */
  readonly agent?: Agent;
  /**
   * `'report'` is a dry run: robots.txt is asked as ever and `onRefusal` hears of what would be refused, but the
   * request goes on.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'report';
  /** Told of every request that is refused, or in mode `'report'` would be. What it throws ends the request. */
  readonly onRefusal?: (decision: Decision) => void;
  /** Told of every request, and every redirect of it, that was sent with `robots: { ignore: true, because }`. */
  readonly onIgnore?: (ignored: IgnoredRequest) => void;
  /** Whether a request for `url` is crawling. Of others robots.txt is not asked. @default all are */
  readonly filter?: (url: URL) => boolean;
}

/** A single request that is sent whatever robots.txt says. */
export interface IgnoreRobots {
  readonly ignore: true;
  /** Why. Handed to `onIgnore`; never empty. */
  readonly because: string;
}

/** What `onIgnore` is told. */
export interface IgnoredRequest {
  readonly url: string;
  readonly because: string;
}

type Check = readonly [expected: string, holds: (value: unknown) => boolean];

const aFunction = (expected: string): Check => [expected, (value) => typeof value === 'function'];

const CHECKS: Readonly<Record<string, Check>> = {
  mode: ["'enforce' or 'report'", (value) => value === 'enforce' || value === 'report'],
  onRefusal: aFunction('a function of a decision'),
  onIgnore: aFunction('a function of { url, because }'),
  filter: aFunction('a function from a URL to true or false'),
};

/**
 * Checks the options of a guard; `more` are those that only this guard has.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), whose message names the option, what was
 *   expected and what came.
 */
export function checkGuardOptions(options: object, more: Readonly<Record<string, Check>> = {}): void {
  if (typeof options !== 'object' || options === null) throw wrong('the options', 'an object', options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (name === 'agent') {
      agentTokens(value as Agent);
      continue;
    }
    const check = own(CHECKS, name) ?? own(more, name);
    if (check === undefined) {
      const known = ['agent', ...Object.keys(CHECKS), ...Object.keys(more)].join(', ');
      throw new RobotsInvalidOptionsError(`Expected only known options (${known}), got \`${name}\``);
    }
    const [expected, holds] = check;
    if (!holds(value)) throw wrong(`\`${name}\``, expected, value);
  }
}

/**
 * Why robots.txt is ignored for one request; `undefined` when it is not.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for anything but `{ ignore: true, because }`.
 */
export function reasonToIgnore(robots: unknown): string | undefined {
  if (robots === undefined) return undefined;
  if (typeof robots !== 'object' || robots === null) {
    throw wrong('`robots`', "{ ignore: true, because: '…' }", robots);
  }
  for (const name of Object.keys(robots)) {
    if (name !== 'ignore' && name !== 'because') {
      throw new RobotsInvalidOptionsError(
        `Expected only known options (ignore, because), got \`robots.${name}\``,
      );
    }
  }
  const ignore: unknown = Reflect.get(robots, 'ignore');
  if (ignore !== true) throw wrong('`robots.ignore`', 'true', ignore);
  const because: unknown = Reflect.get(robots, 'because');
  if (typeof because !== 'string' || because.trim() === '') {
    throw wrong('`robots.because`', 'a reason, not empty', because);
  }
  return because;
}

function own(checks: Readonly<Record<string, Check>>, name: string): Check | undefined {
  return Object.hasOwn(checks, name) ? checks[name] : undefined;
}

function wrong(name: string, expected: string, got: unknown): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    `Expected ${name} to be ${expected}, got ${quote(got)} (${typeof got})`,
  );
}
