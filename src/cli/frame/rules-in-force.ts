import { absenceOf, type LoadedRobots } from '../../report/input/index.ts';
import { type Dialect, parseRobots, type RobotsFile } from '../../rules/index.ts';

/** The rules that hold for an origin or a file. */
export interface RulesInForce {
  readonly file: RobotsFile;
  /** Set when there is no file, and the answer to its request decides everything: a sentence that says why. */
  readonly because?: string;
}

const DISALLOW_ALL = 'User-agent: *\nDisallow: /\n';

/**
 * The rules that a loaded robots.txt puts in force. An empty file stands for a missing robots.txt, and `Disallow: /`
 * for a restricted one. Returns `undefined` for an outage, because the rules are then unknown.
 */
export function rulesInForce(loaded: LoadedRobots, dialect: Dialect): RulesInForce | undefined {
  const read = (body: Uint8Array | string): RobotsFile => parseRobots(body, { dialect });
  if (loaded.kind === 'file') return { file: read(loaded.body) };
  const { state, reason } = loaded.policy;
  const because = absenceOf(loaded) ?? '';
  if (state === 'allow-all') return { file: read(''), because };
  return reason === 'restricted' ? { file: read(DISALLOW_ALL), because } : undefined;
}
