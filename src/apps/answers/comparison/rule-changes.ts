import type { Rule, OtherRecord, RobotsFile } from '../../../core/rules/index.ts';
import { createHash } from 'node:crypto';
import { linesApplying } from '../../../core/rules/describe.ts';

/** The merged groups of a file that apply to one agent. */
interface Effective {
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

/** A change of one rule. Line numbers refer to the file that contains the rule. */
export type RuleChange =
  | { readonly kind: 'added'; readonly after: Rule }
  | { readonly kind: 'removed'; readonly before: Rule }
  /** The pattern stayed, but changed from `Allow` to `Disallow` or back. */
  | { readonly kind: 'turned'; readonly before: Rule; readonly after: Rule }
  /** The rule changed its position among the common rules; matters only where the first match decides. */
  | { readonly kind: 'moved'; readonly before: Rule; readonly after: Rule };

/** Lists the changes between two lists of rules, in line order. */
export function ruleChanges(
  before: readonly Rule[],
  after: readonly Rule[],
  orderMatters: boolean,
): RuleChange[] {
  const old = firstOfEach(before, ruleKey);
  const now = firstOfEach(after, ruleKey);
  const removed = new Map([...old].filter(([key]) => !now.has(key)));
  const changes: RuleChange[] = [];
  for (const [key, rule] of now) {
    if (old.has(key)) continue;
    const oppositeKey = ruleKey({ ...rule, directive: rule.directive === 'allow' ? 'disallow' : 'allow' });
    const opposite = removed.get(oppositeKey);
    removed.delete(oppositeKey);
    changes.push(
      opposite === undefined
        ? { kind: 'added', after: rule }
        : { kind: 'turned', before: opposite, after: rule },
    );
  }
  for (const rule of removed.values()) changes.push({ kind: 'removed', before: rule });
  if (orderMatters) changes.push(...movedRules(old, now));
  return changes.sort((a, b) => lineOf(a) - lineOf(b));
}

function lineOf(change: RuleChange): number {
  return change.kind === 'removed' ? change.before.line : change.after.line;
}

/** The smallest set of moved rules: the common rules outside a longest subsequence that kept its order. */
function movedRules(old: ReadonlyMap<string, Rule>, now: ReadonlyMap<string, Rule>): RuleChange[] {
  const places = new Map([...old.keys()].map((key, place) => [key, place] as const));
  const common = [...now].flatMap(([key, after]) => {
    const before = old.get(key);
    const place = places.get(key);
    return before === undefined || place === undefined ? [] : [{ before, after, place }];
  });
  const stayed = longestRising(common.map(({ place }) => place));
  return common
    .filter((_, index) => !stayed.has(index))
    .map(({ before, after }) => ({ kind: 'moved', before, after }));
}

/** Indices of a longest increasing subsequence (patience sorting). */
function longestRising(numbers: readonly number[]): Set<number> {
  /** For each length, the index of the smallest number that ends an increasing subsequence of that length. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  numbers.forEach((number, index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    previous[index] = ends[low - 1];
    ends[low] = index;
  });
  const run = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) run.add(at);
  return run;
}

/** Longer patterns are skipped, because each of their URLs would fill a screen. */
const MAX_PATTERN = 2_000;

/** Makes paths that match the rules, for changed rules first, at most `most` of them. */
export function samplePaths(
  changes: readonly RuleChange[],
  rules: readonly Rule[],
  wildcards: boolean,
  most: number,
): Set<string> {
  const paths = new Set<string>();
  const patterns = new Set(rules.map(({ pattern }) => pattern));
  const addAll = (rule: Rule): void => {
    for (const path of pathsOf(rule.pattern, wildcards, patterns)) if (paths.size < most) paths.add(path);
  };
  for (const change of changes) {
    if (change.kind !== 'added') addAll(change.before);
    if (change.kind !== 'removed') addAll(change.after);
  }
  for (const rule of rules) addAll(rule);
  return paths;
}

/** The shortest path that a pattern matches, a path below it, and a path with a character for each wildcard. */
function pathsOf(pattern: string, wildcards: boolean, patterns: ReadonlySet<string>): string[] {
  if (pattern.length > MAX_PATTERN || !(pattern.startsWith('/') || (wildcards && pattern.startsWith('*')))) {
    return [];
  }
  const anchored = wildcards && pattern.endsWith('$');
  const text = anchored ? pattern.slice(0, -1) : pattern;
  const filled = (filling: string): string => {
    const path = wildcards ? text.replaceAll('*', filling) : text;
    return path.startsWith('/') ? path : `/${path}`;
  };
  const shortest = filled('');
  // A longer name tells `/c` from `/c$` and `/c/`.
  const longer = patterns.has(`${text}$`) || patterns.has(`${text}/`) ? [`${shortest}X`] : [];
  const deeper = anchored ? [] : [shortest.endsWith('/') ? `${shortest}x` : `${shortest}/x`, ...longer];
  return [shortest, ...deeper, ...(wildcards && text.includes('*') ? [filled('x')] : [])];
}
