import { dialects } from '../../rules/dialect.ts';
import type { OtherRecord, RobotsFile, Rule, Sitemap, Verdict } from '../../rules/index.ts';
import { type Effective, EffectiveRules, firstOfEach, namedAgents, recordKey, ruleKey } from './effective.ts';
import { type RuleChange, ruleChanges } from './rule-changes.ts';
import { samplePaths } from './sample-paths.ts';

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

interface Pair {
  readonly agents: string[];
  readonly before: Effective;
  readonly after: Effective;
}

const MAX_AGENTS = 200;
const MAX_SAMPLES = 5_000;
/** Further flips are only counted. */
const MAX_FLIPS = 1_000;

/** Compares two robots.txt files, for the given agents or for all agents that the files name. */
export class FileComparison {
  readonly differences: readonly AgentDifference[];
  /** Changed `Sitemap` records and other records outside of groups, which apply to every agent. */
  readonly outsideGroups: readonly RecordChange[];
  /** Number of named agents that were not compared because the files name more than `MAX_AGENTS`. */
  readonly agentsLeftOut: number;
  readonly #before: RobotsFile;
  readonly #after: RobotsFile;

  constructor(before: RobotsFile, after: RobotsFile, agents: readonly string[]) {
    this.#before = before;
    this.#after = after;
    const wanted = agents.length > 0 ? { agents, more: 0 } : namedAgents([before, after], MAX_AGENTS);
    this.agentsLeftOut = wanted.more;
    this.outsideGroups = recordChanges(forEverybody(before), forEverybody(after));
    this.differences = this.#pairs(wanted.agents).flatMap((pair) => this.#differenceOf(pair) ?? []);
  }

  get same(): boolean {
    return this.differences.length === 0 && this.outsideGroups.length === 0;
  }

  /**
   * Checks a URL or path against both files, and counts it when the decisions differ.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  probe(target: string): void {
    // Rejects an invalid URL even when the files do not differ.
    if (!target.startsWith('/')) this.#before.check(target);
    for (const difference of this.differences) this.#probeFor(difference, target);
  }

  /** Groups the agents that have the same rules in both files, so that each set is compared once. */
  #pairs(agents: readonly string[]): Pair[] {
    const pairs = new Map<string, Pair>();
    const old = new EffectiveRules(this.#before);
    const now = new EffectiveRules(this.#after);
    for (const agent of agents) {
      const before = old.for(agent);
      const after = now.for(agent);
      const key = [before.text, after.text, groupChange(before, after)].join('\n');
      const known = pairs.get(key);
      if (known === undefined) pairs.set(key, { agents: [agent], before, after });
      else known.agents.push(agent);
    }
    return [...pairs.values()];
  }

  #differenceOf({ agents, before, after }: Pair): AgentDifference | undefined {
    const { decides, wildcards } = dialects[this.#after.dialect];
    const rules = ruleChanges(before.rules, after.rules, decides === 'first');
    const records = recordChanges(before.records, after.records);
    if (rules.length === 0 && records.length === 0 && groupChange(before, after) === undefined)
      return undefined;
    const difference: AgentDifference = {
      agents,
      ...(before.group === undefined ? {} : { groupBefore: before.group }),
      ...(after.group === undefined ? {} : { groupAfter: after.group }),
      rules,
      records,
      flips: [],
      flipCount: 0,
      redecidedCount: 0,
    };
    const both = [...before.rules, ...after.rules];
    for (const path of samplePaths(rules, both, wildcards, MAX_SAMPLES)) this.#probeFor(difference, path);
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
function groupChange(before: Effective, after: Effective): string | undefined {
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
