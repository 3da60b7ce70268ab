import { createHash } from 'node:crypto';
import { linesApplying } from '../../../core/rules/describe.ts';
import type { OtherRecord, RobotsFile, Rule } from '../../../core/rules/index.ts';

/** The merged groups of a file that apply to one agent. */
export interface Effective {
  /** Rules in file order, without duplicates. */
  readonly rules: readonly Rule[];
  /** Other records in the groups that apply. */
  readonly records: readonly OtherRecord[];
}

/** Identifies agents with the same rules and records. */
export interface EffectiveKey {
  /** Name of the group that applies, as the file writes it; absent when no group names the agent or `*`. */
  readonly group?: string;
  /** Digest of the rules and records: equal when these are, whatever their lines. */
  readonly digest: string;
}

/**
 * Merges the groups of a file for each agent. Digests are kept, rules are not: a hostile file can give each of many agents
 * nearly all of its rules.
 */
export class EffectiveRules {
  readonly #file: RobotsFile;
  readonly #digests = new Map<string, string>();

  constructor(file: RobotsFile) {
    this.#file = file;
  }

  key(agent: string): EffectiveKey {
    const naming = linesApplying(this.#file, agent);
    if (naming === undefined) return { digest: '' };
    const applying = this.#applying(naming.lines);
    const places = [...applying.groups, '|', ...applying.blocks].join(' ');
    const digest = this.#digests.get(places) ?? digestOf(this.#merge(applying));
    this.#digests.set(places, digest);
    return { digest, group: naming.agent };
  }

  for(agent: string): Effective {
    const naming = linesApplying(this.#file, agent);
    return naming === undefined ? { rules: [], records: [] } : this.#merge(this.#applying(naming.lines));
  }

  #applying(naming: readonly number[]): Applying {
    const lines = new Set(naming);
    const groups = new Set<number>();
    const blocks = new Set<number>();
    this.#file.groups.forEach(({ agentLines }, index) => {
      for (const { line, block } of agentLines) {
        if (!lines.has(line)) continue;
        groups.add(index);
        blocks.add(block);
      }
    });
    return { groups, blocks };
  }

  #merge({ groups, blocks }: Applying): Effective {
    const written = this.#file.groups.filter((_, index) => groups.has(index)).flatMap((each) => each.rules);
    const rules = [...firstOfEach(written, ruleKey).values()];
    const records = this.#file.otherRecords.filter(({ block }) => block !== undefined && blocks.has(block));
    return { rules, records };
  }
}

/** Indices of the groups, and their blocks, that apply to an agent. */
interface Applying {
  readonly groups: ReadonlySet<number>;
  readonly blocks: ReadonlySet<number>;
}

function digestOf({ rules, records }: Effective): string {
  const text = JSON.stringify([rules.map(ruleKey), records.map(recordKey)]);
  return createHash('sha256').update(text).digest('base64');
}

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
