import { callerAgent, NAMES_AGENT, NAMES_ALL } from '../../rules/agent.ts';
import { linesNaming } from '../../rules/describe.ts';
import type { OtherRecord, RobotsFile, Rule } from '../../rules/index.ts';
import { dialects } from '../../rules/dialect.ts';

/** What a file comes down to for one agent, once its groups are merged. */
export interface Effective {
  /** Name of the group that applies, as the file has it; absent when there is none for the agent, nor for `*`. */
  readonly group?: string;
  /** In file order; of rules that say the same only the first. */
  readonly rules: readonly Rule[];
  /** What else stands in those groups. */
  readonly records: readonly OtherRecord[];
  /** The same for the same rules and records, wherever they stand. */
  readonly text: string;
}

/** What a file comes down to for agent after agent; those that the same groups apply to share it. */
export class EffectiveRules {
  private readonly file: RobotsFile;
  private readonly known = new Map<string, Effective>();

  constructor(file: RobotsFile) {
    this.file = file;
  }

  for(agent: string): Effective {
    const { file } = this;
    const group = groupOf(file, agent);
    if (group === undefined) return NOTHING;
    const lines = new Set(group.lines);
    const applying: number[] = [];
    file.groups.forEach(({ agents }, index) => {
      if (agents.some(({ line }) => lines.has(line))) applying.push(index);
    });
    const key = applying.join(' ');
    const merged = this.known.get(key) ?? this.merge(new Set(applying));
    this.known.set(key, merged);
    return { ...merged, group: group.agent };
  }

  private merge(applying: ReadonlySet<number>): Effective {
    const { groups, otherRecords } = this.file;
    const written = groups.filter((_, index) => applying.has(index)).flatMap((each) => each.rules);
    const rules = [...firstOfEach(written, ruleKey).values()];
    const records = otherRecords.filter((each) => each.group !== undefined && applying.has(each.group));
    return { rules, records, text: JSON.stringify([rules.map(ruleKey), records.map(recordKey)]) };
  }
}

/** The user-agent lines that make groups apply. Nothing is compiled: of many agents few are asked about URLs. */
function groupOf({ bytes, dialect }: RobotsFile, agent: string): ReturnType<typeof linesNaming> | undefined {
  const traits = dialects[dialect];
  const caller = callerAgent(agent, traits);
  const named = linesNaming(bytes, caller, NAMES_AGENT, traits);
  if (named.lines.length > 0) return named;
  const all = linesNaming(bytes, caller, NAMES_ALL, traits);
  return all.lines.length > 0 ? all : undefined;
}

const NOTHING: Effective = { rules: [], records: [], text: '' };

export const ruleKey = ({ directive, pattern }: Rule): string => `${directive} ${pattern}`;
export const recordKey = ({ key, value }: OtherRecord): string => `${key} ${value}`;

/** By key, in the order of their first appearance. */
export function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item> {
  const byKey = new Map<string, Item>();
  for (const item of items) {
    const key = keyOf(item);
    if (!byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}

/** Agents that the files name, `*` first, each as it is first written; at most `most` of them. */
export function namedAgents(
  files: readonly RobotsFile[],
  most: number,
): { readonly agents: string[]; readonly more: number } {
  const names = new Map([['*', '*']]);
  for (const { groups } of files) {
    for (const { name } of groups.flatMap(({ agents }) => agents)) {
      const key = name.toLowerCase();
      if (!names.has(key)) names.set(key, name);
    }
  }
  return { agents: [...names.values()].slice(0, most), more: Math.max(0, names.size - most) };
}
