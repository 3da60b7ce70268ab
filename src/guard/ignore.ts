import { invalid, RobotsInvalidOptionsError } from '../base/index.ts';

/**
 * What a guarded request may say besides what its client takes. It is taken out before the request is sent.
 *
 * @example
 * ```ts
 * const init: RequestInit & RobotsInit = { robots: { ignore: true, because: 'the owner asked for a copy' } };
 * await fetchPolitely('https://example.com/private', init);
 * ```
 */
export interface RobotsInit {
  readonly robots?: {
    /** Whether to make this request, and the redirects it meets, without asking. */
    readonly ignore: boolean;
    /** Why. Told to `onIgnored`. */
    readonly because: string;
  };
}

const NAMES: ReadonlySet<string> = new Set(['ignore', 'because']);

/**
 * Why robots.txt is not asked about one request; `undefined` when it is.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`): nobody ignores by a slip, or without a reason.
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
