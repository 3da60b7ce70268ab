import { linesApplying } from '../../rules/describe.ts';
import type { OtherRecord, RobotsFile, Rule } from '../../rules/index.ts';

/** The merged groups of a file that apply to one agent. */
export interface Effective {
  /** Name of the group that applies, as the file writes it; absent when no group names the agent or `*`. */
  readonly group?: string;
  /** Rules in file order, without duplicates. */
  readonly rules: readonly Rule[];
  /** Other records in the groups that apply. */
  readonly records: readonly OtherRecord[];
  /** Comparison key: equal for the same rules and records, whatever their lines. */
  readonly text: string;
}

/** Merges the groups of a file for each agent. Agents with the same groups share one result. */
export class EffectiveRules {
  readonly #file: RobotsFile;
  readonly #known = new Map<string, Effective>();

  constructor(file: RobotsFile) {
    this.#file = file;
  }

  for(agent: string): Effective {
    const file = this.#file;
    const naming = linesApplying(file, agent);
    if (naming === undefined) return NOTHING;
    const lines = new Set(naming.lines);
    const groups = new Set<number>();
    const blocks = new Set<number>();
    file.groups.forEach(({ agentLines }, index) => {
      for (const { line, block } of agentLines) {
        if (!lines.has(line)) continue;
        groups.add(index);
        blocks.add(block);
      }
    });
    const key = [...groups, '|', ...blocks].join(' ');
    const merged = this.#known.get(key) ?? this.#merge(groups, blocks);
    this.#known.set(key, merged);
    return { ...merged, group: naming.agent };
  }

  #merge(groups: ReadonlySet<number>, blocks: ReadonlySet<number>): Effective {
    const written = this.#file.groups.filter((_, index) => groups.has(index)).flatMap((each) => each.rules);
    const rules = [...firstOfEach(written, ruleKey).values()];
    const records = this.#file.otherRecords.filter(({ block }) => block !== undefined && blocks.has(block));
    return { rules, records, text: JSON.stringify([rules.map(ruleKey), records.map(recordKey)]) };
  }
}

const NOTHING: Effective = { rules: [], records: [], text: '' };

export const ruleKey = ({ directive, pattern }: Rule): string => `${directive} ${pattern}`;
export const recordKey = ({ key, value }: OtherRecord): string => `${key} ${value}`;

/** Maps each key to its first item, in the order of first appearance. */
export function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item> {
  const byKey = new Map<string, Item>();
  for (const item of items) {
    const key = keyOf(item);
    if (!byKey.has(key)) byKey.set(key, item);
  }
  return byKey;
}

/** Lists the agents that the files name: `*` first, each in its first spelling, at most `most` of them. */
export function namedAgents(
  files: readonly RobotsFile[],
  most: number,
): { readonly agents: string[]; readonly more: number } {
  const names = new Map([['*', '*']]);
  for (const { groups } of files) {
    for (const name of groups.flatMap(({ agentLines }) => agentLines).flatMap((each) => each.names)) {
      const key = name.toLowerCase();
      if (!names.has(key)) names.set(key, name);
    }
  }
  return { agents: [...names.values()].slice(0, most), more: Math.max(0, names.size - most) };
}
