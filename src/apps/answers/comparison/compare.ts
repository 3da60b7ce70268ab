import { omitUndefined, type TimeSlice } from '../../../core/base/index.ts';
import { dialects } from '../../../core/rules/dialect.ts';
import type { OtherRecord, RobotsFile, Rule, Sitemap, Verdict } from '../../../core/rules/index.ts';
import {
  type EffectiveKey,
  EffectiveRules,
  firstOfEach,
  namedAgents,
  recordKey,
  ruleKey,
  type RuleChange,
  ruleChanges,
  samplePaths,
} from './rule-changes.ts';

/** A record that was added or removed. */
export interface RecordChange {
  readonly kind: 'added' | 'removed';
  readonly record: Omit<OtherRecord, 'block'>;
}

/** A URL whose verdict changed. */
export interface VerdictChange {
  readonly target: string;
  readonly before: SideVerdict;
  readonly after: SideVerdict;
}

export interface SideVerdict {
  readonly allowed: boolean;
  /** The rule that decides; absent when no rule matches. */
  readonly rule?: Rule;
}

/** The changes for a set of agents that share the same rules in both files. */
export interface AgentDifference {
  readonly agents: readonly string[];
  /** Name of the group that applies in the old file; absent when none does. */
  readonly groupBefore?: string;
  /** Name of the group that applies in the new file; absent when none does. */
  readonly groupAfter?: string;
  readonly rules: readonly RuleChange[];
  readonly records: readonly RecordChange[];
  /** The first URLs that changed from allowed to disallowed or back, at most `MAX_FLIPS`. */
  readonly flips: VerdictChange[];
  /** Number of all such URLs. */
  flipCount: number;
  /** Number of URLs that another rule decides with the same result. */
  redecidedCount: number;
}

/** One of the two compared files. */
export interface ComparedFile {
  /** File name, URL or other name as given. */
  readonly name: string;
  /** Why an empty or closed file is compared instead of a fetched one. */
  readonly because?: string;
}

/** A comparison as plain data. */
export interface ComparisonRecord {
  readonly before: ComparedFile;
  readonly after: ComparedFile;
  readonly same: boolean;
  readonly differences: readonly AgentDifference[];
  /** {@link FileComparison.outsideGroups} */
  readonly everybody: readonly RecordChange[];
  readonly agentsLeftOut: number;
}

interface Pair {
  readonly agents: string[];
  readonly before: EffectiveKey;
  readonly after: EffectiveKey;
}

const MAX_AGENTS = 200;
const MAX_SAMPLES = 5_000;
/** Further flips are only counted. */
const MAX_FLIPS = 1_000;
/** The most changes of rules and records; further agents are left out. A hostile file has thousands for each agent. */
const MAX_CHANGES = 50_000;

/** Compares two robots.txt files, for the given agents or for all agents that the files name. */
export class FileComparison {
  readonly differences: AgentDifference[] = [];
  /** Changed `Sitemap` records and other records outside of groups, which apply to every agent. */
  readonly outsideGroups: readonly RecordChange[];
  /** Number of agents that were not compared, because there are more than `MAX_AGENTS` or `MAX_CHANGES`. */
  agentsLeftOut = 0;
  readonly #before: RobotsFile;
  readonly #after: RobotsFile;

  private constructor(before: RobotsFile, after: RobotsFile) {
    this.#before = before;
    this.#after = after;
    this.outsideGroups = recordChanges(forEverybody(before), forEverybody(after));
  }

  /** Makes a comparison. Rejects with the reason of the signal of `turn` when that is aborted. */
  static async of(
    before: RobotsFile,
    after: RobotsFile,
    agents: readonly string[],
    slice: TimeSlice,
  ): Promise<FileComparison> {
    const comparison = new FileComparison(before, after);
    await comparison.#compare(agents, slice);
    return comparison;
  }

  get same(): boolean {
    return this.differences.length === 0 && this.outsideGroups.length === 0;
  }

  record(before: ComparedFile, after: ComparedFile): ComparisonRecord {
    const named = ({ name, because }: ComparedFile): ComparedFile =>
      because === undefined ? { name } : { name, because };
    const { same, differences, outsideGroups: everybody, agentsLeftOut } = this;
    return { before: named(before), after: named(after), same, differences, everybody, agentsLeftOut };
  }

  /**
   * Checks a URL or path against both files, and counts it when the decisions differ.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  probe(target: string): void {
    this.assertTarget(target);
    for (const difference of this.differences) this.#probeFor(difference, target);
  }

  /** Does the same with many, agent by agent: a file keeps the compiled rules of few agents. */
  async probeAll(targets: readonly string[], slice: TimeSlice): Promise<void> {
    for (const difference of this.differences) {
      for (const target of targets) {
        this.#probeFor(difference, target);
        if (slice.isOver) await slice.yield();
      }
    }
  }

  /**
   * Rejects an invalid URL even when the files do not differ.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  assertTarget(target: string): void {
    if (!target.startsWith('/')) this.#before.check(target);
  }

  async #compare(given: readonly string[], slice: TimeSlice): Promise<void> {
    const wanted =
      given.length > 0 ? { agents: given, more: 0 } : namedAgents([this.#before, this.#after], MAX_AGENTS);
    this.agentsLeftOut = wanted.more;
    const old = new EffectiveRules(this.#before);
    const now = new EffectiveRules(this.#after);
    let changes = 0;
    for (const pair of await pairsOf(wanted.agents, old, now, slice)) {
      if (slice.isOver) await slice.yield();
      if (changes >= MAX_CHANGES) {
        this.agentsLeftOut += pair.agents.length;
        continue;
      }
      const difference = await this.#differenceOf(pair, old, now, slice);
      if (difference === undefined) continue;
      changes += difference.rules.length + difference.records.length;
      this.differences.push(difference);
    }
  }

  async #differenceOf(
    pair: Pair,
    old: EffectiveRules,
    now: EffectiveRules,
    slice: TimeSlice,
  ): Promise<AgentDifference | undefined> {
    const [agent = '*'] = pair.agents;
    const before = old.for(agent);
    const after = now.for(agent);
    const { decides, wildcards } = dialects[this.#after.dialect];
    const rules = ruleChanges(before.rules, after.rules, decides === 'first');
    const records = recordChanges(before.records, after.records);
    if (rules.length === 0 && records.length === 0 && groupChange(pair.before, pair.after) === undefined)
      return undefined;
    const difference: AgentDifference = {
      agents: pair.agents,
      ...omitUndefined({ groupBefore: pair.before.group, groupAfter: pair.after.group }),
      rules,
      records,
      flips: [],
      flipCount: 0,
      redecidedCount: 0,
    };
    const both = [...before.rules, ...after.rules];
    for (const path of samplePaths(rules, both, wildcards, MAX_SAMPLES)) {
      this.#probeFor(difference, path);
      if (slice.isOver) await slice.yield();
    }
    return difference;
  }

  #probeFor(difference: AgentDifference, target: string): void {
    // All agents of a difference have the same rules: any of them gives the same verdicts.
    const [agent = '*'] = difference.agents;
    const before = sideVerdict(this.#before.check(target, agent));
    const after = sideVerdict(this.#after.check(target, agent));
    if (before.allowed !== after.allowed) {
      difference.flipCount++;
      if (difference.flips.length < MAX_FLIPS) difference.flips.push({ target, before, after });
    } else if (decider(before) !== decider(after)) difference.redecidedCount++;
  }
}

/** Groups the agents that have the same rules in both files, so that each set is compared once. */
async function pairsOf(
  agents: readonly string[],
  old: EffectiveRules,
  now: EffectiveRules,
  slice: TimeSlice,
): Promise<Iterable<Pair>> {
  const pairs = new Map<string, Pair>();
  for (const agent of agents) {
    const before = old.key(agent);
    const after = now.key(agent);
    const key = [before.digest, after.digest, groupChange(before, after)].join(' ');
    const known = pairs.get(key);
    if (known === undefined) pairs.set(key, { agents: [agent], before, after });
    else known.agents.push(agent);
    if (slice.isOver) await slice.yield();
  }
  return pairs.values();
}

function decider({ rule }: SideVerdict): string {
  return rule === undefined ? '' : ruleKey(rule);
}

function sideVerdict(verdict: Verdict): SideVerdict {
  const { allowed, rule } = verdict;
  return rule === undefined ? { allowed } : { allowed, rule };
}

/**
 * Describes a change between no group, the group of `*` and a group that names the agent; `undefined` when the kind
 * stayed. The name of the group does not count.
 */
function groupChange(before: EffectiveKey, after: EffectiveKey): string | undefined {
  const [was, is] = [before, after].map(({ group }) =>
    group === undefined ? 'none' : group === '*' ? 'all' : 'own',
  );
  return was === is ? undefined : `${was} ${is}`;
}

/** The records that apply to every agent. Sitemaps become records, so that one function compares both. */
function forEverybody({ sitemaps, otherRecords }: RobotsFile): OtherRecord[] {
  const asRecord = ({ url, line }: Sitemap): OtherRecord => ({ key: 'sitemap', value: url, line });
  return [...sitemaps.map(asRecord), ...otherRecords.filter(({ block }) => block === undefined)];
}

function recordChanges(before: readonly OtherRecord[], after: readonly OtherRecord[]): RecordChange[] {
  const old = firstOfEach(before, recordKey);
  const now = firstOfEach(after, recordKey);
  const changeOf = (kind: RecordChange['kind'], { key, value, line }: OtherRecord): RecordChange => ({
    kind,
    record: { key, value, line },
  });
  const gone = [...old].filter(([key]) => !now.has(key)).map(([, record]) => changeOf('removed', record));
  const come = [...now].filter(([key]) => !old.has(key)).map(([, record]) => changeOf('added', record));
  return [...gone, ...come].sort((a, b) => a.record.line - b.record.line);
}
