import { agentLineNames, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import type { DialectTraits } from './dialect.ts';
import { GroupWalk } from './group-walk.ts';
import { LINE_ALLOW, LINE_DISALLOW, LINE_USER_AGENT } from './line-cursor.ts';
import type { WrittenRule } from './matcher/index.ts';

/** The rules with a path that apply to `agent` (octets, lower case), in file order: for explanations, not for decisions. */
export function rulesFor(bytes: Uint8Array, agent: Uint8Array, traits: DialectTraits): WrittenRule[] {
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
