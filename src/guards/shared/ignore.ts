import { invalid, RobotsInvalidOptionsError } from '../../core/base/index.ts';

/**
 * Why a request is made without a check: one of these words, so that accounts of several crawlers can be compared, or any
 * other text. None of them exempts a request by itself.
 *
 * - `user-request`: a person asked for this very page, now.
 * - `user-preview`: a person's message has the link, and a preview of it is shown.
 * - `owner-request`: the owner of the site asked for it.
 * - `owner-consent`: the owner of the site agreed, such as by a contract.
 * - `security`: a search for abuse, which those who commit it would forbid.
 */
export type IgnoreReason =
  'user-request' | 'user-preview' | 'owner-request' | 'owner-consent' | 'security' | (string & {});

/**
 * The member that the guard adds to the options of a request. The guard removes it before the request is sent.
 *
 * @example
 * ```ts
 * const init: RequestInit & RobotsInit = { robots: { ignore: true, because: 'the owner asked for a copy' } };
 * await fetchPolitely('https://example.com/private', init);
 * ```
 */
export interface RobotsInit {
  readonly robots?: {
    /** Whether to make this request, and the redirects it meets, without a check of robots.txt. */
    readonly ignore: boolean;
    /** The reason, which `onIgnored` gets, and by which an account counts. */
    readonly because: IgnoreReason;
  };
}

const NAMES: ReadonlySet<string> = new Set(['ignore', 'because']);

/**
 * The reason to ignore robots.txt for one request; `undefined` when it is checked.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the member is malformed or gives no reason, so
 * that robots.txt is not ignored by mistake.
 */
export function ignoredBecause(robots: unknown): string | undefined {
  if (robots === undefined) return undefined;
  if (typeof robots !== 'object' || robots === null) {
    throw invalid('`robots`', "an object such as { ignore: true, because: '…' }", robots);
  }
  const unknown = Object.keys(robots).filter((name) => !NAMES.has(name));
  if (unknown.length > 0) {
    const names = unknown.map((name) => `\`robots.${name}\``).join(', ');
    throw new RobotsInvalidOptionsError(
      `Expected only \`robots.ignore\` and \`robots.because\`, got ${names}`,
    );
  }
  const ignore: unknown = Reflect.get(robots, 'ignore');
  const because: unknown = Reflect.get(robots, 'because');
  if (typeof ignore !== 'boolean') throw invalid('`robots.ignore`', 'true or false', ignore);
  if (typeof because !== 'string' || because.trim() === '') {
    throw invalid('`robots.because`', 'the reason, as text', because);
  }
  return ignore ? because : undefined;
}
