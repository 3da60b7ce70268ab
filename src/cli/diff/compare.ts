import { dialects } from '../../rules/dialect.ts';
import type { OtherRecord, RobotsFile, Rule, Sitemap, Verdict } from '../../rules/index.ts';
import { type Effective, EffectiveRules, firstOfEach, namedAgents, recordKey, ruleKey } from './effective.ts';
import { type RuleChange, ruleChanges } from './rule-changes.ts';
import { samplePaths } from './sample-paths.ts';

/** A line that came or went. */
export interface RecordChange {
  readonly kind: 'added' | 'removed';
  readonly record: Omit<OtherRecord, 'block'>;
}

/** A URL, and what was said of it before and now. */
export interface Flip {
  readonly target: string;
  readonly before: SideVerdict;
  readonly after: SideVerdict;
}

export interface SideVerdict {
  readonly allowed: boolean;
  /** The rule that decides; absent when none does. */
  readonly rule?: Rule;
}

/** What changed for some agents, all of which have the same rules before and now. */
export interface AgentDifference {
  readonly agents: readonly string[];
  /** The group that applied before, and the one that does now; absent when there is none. */
  readonly groupBefore?: string;
  readonly groupAfter?: string;
  readonly rules: readonly RuleChange[];
  readonly records: readonly RecordChange[];
  /** URLs that are allowed now and were not, or the other way round: the first of them. */
  readonly flips: Flip[];
  /** How many there are. */
  flipCount: number;
  /** URLs that are decided by another rule, to the same effect. */
  redecidedCount: number;
}

interface Pair {
  readonly agents: string[];
  readonly before: Effective;
  readonly after: Effective;
}

const MAX_AGENTS = 200;
const MAX_SAMPLES = 5_000;
/** Flips that are kept one by one. */
const MAX_FLIPS = 1_000;

/** Two robots.txt files held against each other, for the agents given or for all that they name. */
export class FileComparison {
  readonly differences: readonly AgentDifference[];
  /** `Sitemap` lines, and others outside of blocks: they are for everybody. */
  readonly everybody: readonly RecordChange[];
  /** Agents that the files name and that were not looked at, because they are so many. */
  readonly agentsLeftOut: number;
  private readonly before: RobotsFile;
  private readonly after: RobotsFile;

  constructor(before: RobotsFile, after: RobotsFile, agents: readonly string[]) {
    this.before = before;
    this.after = after;
    const wanted = agents.length > 0 ? { agents, more: 0 } : namedAgents([before, after], MAX_AGENTS);
    this.agentsLeftOut = wanted.more;
    this.everybody = recordChanges(forEverybody(before), forEverybody(after));
    this.differences = this.pairs(wanted.agents).flatMap((pair) => this.differenceOf(pair) ?? []);
  }

  get same(): boolean {
    return this.differences.length === 0 && this.everybody.length === 0;
  }

  /**
   * Holds a URL, or a path, against both files.
   *
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`)
   */
  probe(target: string): void {
    // Also when nothing differs: what is no URL is to be told.
    if (!target.startsWith('/')) this.before.check(target);
    for (const difference of this.differences) this.probeFor(difference, target);
  }

  /** Agents with the same rules before and now are looked at once. */
  private pairs(agents: readonly string[]): Pair[] {
    const pairs = new Map<string, Pair>();
    const old = new EffectiveRules(this.before);
    const now = new EffectiveRules(this.after);
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

  private differenceOf({ agents, before, after }: Pair): AgentDifference | undefined {
    const { decides, wildcards } = dialects[this.after.dialect];
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
    for (const path of samplePaths(rules, both, wildcards, MAX_SAMPLES)) this.probeFor(difference, path);
    return difference;
  }

  private probeFor(difference: AgentDifference, target: string): void {
    // All of them have the same rules.
    const [agent = '*'] = difference.agents;
    const before = sideVerdict(this.before.check(target, agent));
    const after = sideVerdict(this.after.check(target, agent));
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

/** Whether an agent gets a group of its own, that of all, or none: how the group is named makes no difference. */
function groupChange(before: Effective, after: Effective): string | undefined {
  const [was, is] = [before, after].map(({ group }) =>
    group === undefined ? 'none' : group === '*' ? 'all' : 'own',
  );
  return was === is ? undefined : `${was} ${is}`;
}

/** As records, so that they are compared like others. */
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
