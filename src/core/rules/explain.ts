import { targetOf } from '../url/index.ts';
import { agentLineNames, callerAgent, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import { assertRobotsFile, pathEnd, type RobotsFile } from './file.ts';
import { GroupWalk, LINE_ALLOW, LINE_DISALLOW, LINE_OTHER, LINE_USER_AGENT } from './parse-line.ts';
import { fromUtf8, LOWER } from './bytes.ts';
import { matchingRules, type WrittenRule } from './matcher/index.ts';
import { readTarget } from './normal-form/normal-form.ts';
import type { MatchedRule, RuleVerdict, Verdict } from './describe.ts';

/** A verdict with the rule that came closest to deciding. */
export interface Explanation {
  readonly verdict: Verdict;
  readonly runnerUp?: {
    readonly rule: MatchedRule;
    /**
     * Why it lost. `shorter`: its pattern has fewer bytes. `tie`: as many, and allow beats disallow, or the first
     * line beats later ones. `later`: the dialect takes the first match in file order.
     */
    readonly lost: 'shorter' | 'tie' | 'later';
  };
  /** What the group of `*` says, when it would decide otherwise: a group that names the agent replaces it. */
  readonly star?: RuleVerdict;
  /** A group that goes on behind a record that does not end it, so that it has agents which its author did not mean. */
  readonly runsOn?: {
    /** The first user-agent line of the group. */
    readonly from: number;
    /** The record between its user-agent lines, and its line. */
    readonly directive: string;
    readonly line: number;
  };
  /** No rule matches, but one is close: but for its case, for a slash at the end, or for what is before it. */
  readonly nearMiss?: {
    readonly rule: MatchedRule;
    readonly differs: 'case' | 'slash' | 'start';
  };
}

/**
 * The verdict of `file.check`, with the runner-up (the rule that came closest to deciding, and why it lost), and with what
 * surprises authors: what the group of `*` would say, a group that runs on, a near miss. The time grows
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
  if (verdict.reason === 'robots-txt' || verdict.group === undefined) return { verdict };
  const { bytes, traits } = file;
  const token = callerAgent(file.chooseAgent(agent), traits);
  const text = target.startsWith('/') ? target.slice(0, pathEnd(target)) : targetOf(target);
  const { rules, runsOn } = rulesFor(file, token, verdict.rule?.line ?? verdict.group.lines[0] ?? 0);
  const star = verdict.group.agent === '*' ? undefined : file.check(target);
  const common = {
    verdict,
    ...(star?.group !== undefined && star.allowed !== verdict.allowed && { star }),
    ...(runsOn && { runsOn }),
  };
  if (verdict.reason === 'no-rule') return { ...common, ...nearMiss(file, rules, text) };
  const form = readTarget(text, 0, text.length, traits);
  const [winner, ...others] = matchingRules(bytes, rules, traits, form);
  // Rules derived from the winner's line are not its runners-up.
  const rival = others.find((rule) => winner !== undefined && rule.offset !== winner.offset);
  if (winner === undefined || rival === undefined) return common;
  const shorter = rival.priority < winner.priority;
  const lost = traits.decides === 'first' ? 'later' : shorter ? 'shorter' : 'tie';
  return { ...common, runnerUp: { rule: file.describeRule(rival), lost } };
}

/** Of the rules that do not match a target, the one that comes closest: by the case, a slash at the end, or the start. */
function nearMiss(
  file: RobotsFile,
  rules: readonly WrittenRule[],
  text: string,
): Pick<Explanation, 'nearMiss'> {
  const { bytes, traits } = file;
  const query = text.indexOf('?');
  const path = query < 0 ? text : text.slice(0, query);
  const slashed = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
  // What starts at a later slash: a rule for `/a` where the target is `/b/a`.
  const starts = [...text.matchAll(/\//g)].slice(1, 1 + MAX_STARTS);
  const tries: readonly (readonly [differs: 'case' | 'slash' | 'start', of: Uint8Array, target: string])[] = [
    ['case', bytes.map((byte) => LOWER[byte]!), text.toLowerCase()],
    ['slash', bytes, slashed + text.slice(path.length)],
    ...starts.map(({ index }) => ['start', bytes, text.slice(index)] as const),
  ];
  for (const [differs, of, target] of tries) {
    const [rule] =
      target === '' ? [] : matchingRules(of, rules, traits, readTarget(target, 0, target.length, traits));
    if (rule !== undefined && (differs !== 'start' || rule.writtenLength > 1))
      return { nearMiss: { rule: file.describeRule(rule), differs } };
  }
  return {};
}

const MAX_STARTS = 10;

/** The rules with a path that apply to `agent` (bytes, lower case), in file order: for explanations, not for decisions. */
function rulesFor(
  { bytes, traits }: RobotsFile,
  agent: Uint8Array,
  deciding: number,
): { readonly rules: WrittenRule[] } & Pick<Explanation, 'runsOn'> {
  let from = 0;
  let between: { readonly directive: string; readonly line: number } | undefined;
  let runsOn: Explanation['runsOn'];
  let found: Explanation['runsOn'];
  /** By group: the agents it names. */
  const names: number[] = [];
  const rules: (WrittenRule & { readonly group: number })[] = [];
  const walk = new GroupWalk(bytes, traits);
  const { cursor } = walk;
  while (walk.next()) {
    const { group } = walk;
    const { kind, line, valueStart: offset, valueEnd } = cursor;
    if (line === deciding) found = runsOn;
    if (kind === LINE_OTHER && walk.acceptsAgents) {
      between ??= { directive: fromUtf8.decode(bytes.subarray(cursor.keyStart, cursor.keyEnd)), line };
    }
    if (kind === LINE_USER_AGENT) {
      if (walk.startsGroup) {
        from = line;
        runsOn = undefined;
      } else if (between !== undefined) runsOn ??= { from, ...between };
      between = undefined;
      names[group] = (names[group] ?? 0) | agentLineNames(bytes, offset, valueEnd, agent, traits);
    } else if ((kind === LINE_ALLOW || kind === LINE_DISALLOW) && group >= 0 && offset < valueEnd) {
      rules.push({ allow: kind === LINE_ALLOW, offset, writtenLength: valueEnd - offset, line, group });
    }
  }
  const scope = names.some((mask) => (mask & NAMES_AGENT) !== 0) ? NAMES_AGENT : NAMES_ALL;
  return {
    rules: rules.filter(({ group }) => ((names[group] ?? 0) & scope) !== 0),
    ...(found && { runsOn: found }),
  };
}
