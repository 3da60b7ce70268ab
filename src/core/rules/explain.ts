import { targetOf } from '../url/index.ts';
import { agentLineNames, callerAgent, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import type { DialectTraits } from './dialect.ts';
import { assertRobotsFile, pathEnd, type RobotsFile } from './file.ts';
import { GroupWalk } from './group-walk.ts';
import { LINE_ALLOW, LINE_DISALLOW, LINE_USER_AGENT } from './parse-line.ts';
import { matchingRules, type WrittenRule } from './matcher/index.ts';
import { readTarget } from './normal-form/normal-form.ts';
import type { Explanation } from './verdict.ts';

/**
 * The verdict of `file.check`, with the runner-up: the rule that came closest to deciding, and why it lost. The time grows
 * with the rules of the agent, so use it for display, not for decisions.
 *
 * @param target An absolute URL, or path and query starting with `/`.
 * @param agent As for `file.check`. Default `*`.
 * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when `target` is neither, or has more than 65,536
 * bytes.
 *
 * @example
 * ```ts
 * const file = parseRobots('User-agent: *\nDisallow: /private\nAllow: /p');
 * explain(file, '/private', 'ExampleBot').runnerUp?.rule.line; // 3
 * ```
 */
export function explain(
  file: RobotsFile,
  target: string,
  agent: string | readonly string[] = '*',
): Explanation {
  assertRobotsFile(file, 'explain');
  const verdict = file.check(target, agent);
  if (verdict.reason !== 'rule') return { verdict };
  const { bytes, traits } = file;
  const token = callerAgent(file.chooseAgent(agent), traits);
  const text = target.startsWith('/') ? target : targetOf(target);
  const form = readTarget(text, 0, pathEnd(text), traits);
  const [winner, ...others] = matchingRules(bytes, rulesFor(bytes, token, traits), traits, form);
  // Rules derived from the winner's line are not its runners-up.
  const rival = others.find((rule) => winner !== undefined && rule.offset !== winner.offset);
  if (winner === undefined || rival === undefined) return { verdict };
  const shorter = rival.priority < winner.priority;
  const lost = traits.decides === 'first' ? 'later' : shorter ? 'shorter' : 'tie';
  return {
    verdict,
    runnerUp: { rule: file.describeRule(rival), lost },
  };
}

/** The rules with a path that apply to `agent` (bytes, lower case), in file order: for explanations, not for decisions. */
function rulesFor(bytes: Uint8Array, agent: Uint8Array, traits: DialectTraits): WrittenRule[] {
  /** By group: the agents it names. */
  const names: number[] = [];
  const rules: (WrittenRule & { readonly group: number })[] = [];
  const walk = new GroupWalk(bytes, traits);
  const { cursor } = walk;
  while (walk.next()) {
    const { group } = walk;
    const { kind, line, valueStart: offset, valueEnd } = cursor;
    if (kind === LINE_USER_AGENT) {
      names[group] = (names[group] ?? 0) | agentLineNames(bytes, offset, valueEnd, agent, traits);
    } else if ((kind === LINE_ALLOW || kind === LINE_DISALLOW) && group >= 0 && offset < valueEnd) {
      rules.push({ allow: kind === LINE_ALLOW, offset, writtenLength: valueEnd - offset, line, group });
    }
  }
  const scope = names.some((mask) => (mask & NAMES_AGENT) !== 0) ? NAMES_AGENT : NAMES_ALL;
  return rules.filter(({ group }) => ((names[group] ?? 0) & scope) !== 0);
}
