import { assertKnownOptions, invalid } from '../base/index.ts';

/** How requests to one origin are spaced. */
export interface PacingOptions {
  /**
   * The least time between two requests to an origin, also where its robots.txt asks for less or says nothing.
   * Milliseconds.
   * @default 0
   */
  readonly minDelayMs?: number;
  /**
   * The longest one request is held back. A slot further away is not booked: the request is deferred, and told when
   * to come again. A `Crawl-delay` is never shortened by it. Milliseconds; 0 never waits.
   * @default 300_000 for guards, no bound for `reserve`
   */
  readonly maxDelayMs?: number;
}

/** The options with every default in place. */
export interface Pace {
  readonly minDelayMs: number;
  readonly maxDelayMs: number;
}

/** Whose options they are. */
interface PaceContext {
  /** What `maxDelayMs` is when not given. */
  readonly maxDelayMs?: number;
  /** Stands before the names in messages. */
  readonly prefix?: string;
  /** Names that belong to somebody else. */
  readonly others?: readonly string[];
}

const NAMES = ['minDelayMs', 'maxDelayMs'] as const satisfies readonly (keyof PacingOptions)[];

/**
 * Checks pacing options and puts the defaults in.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function readPace(options: PacingOptions, context: PaceContext = {}): Pace {
  const { maxDelayMs = Infinity, prefix = '', others = [] } = context;
  assertKnownOptions(options, [...NAMES, ...others], prefix);
  for (const name of NAMES) assertMilliseconds(prefix + name, options[name]);
  return { minDelayMs: options.minDelayMs ?? 0, maxDelayMs: options.maxDelayMs ?? maxDelayMs };
}

function assertMilliseconds(name: string, value: unknown): void {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0)) return;
  throw invalid(`\`${name}\``, 'a whole number of milliseconds', value);
}
