import type { DialectTraits } from '../dialect.ts';
import type { Report, Span } from './diagnostic.ts';
import { beats, findShadowed, type RankedRule } from './shadowed-rules.ts';

/** An agent that user-agent lines name. */
interface LintedAgent {
  /** In lower case. */
  readonly name: string;
  /** The first line that names it. */
  readonly line: number;
  /** The last group that does. */
  group: LintedGroup;
  /** Whether one of its groups has a rule. */
  isRuled: boolean;
  /** Of the rules about all paths in its groups, the deciding one. */
  root: RankedRule | undefined;
  /** The rules of the groups that name it alone. */
  rules: RankedRule[] | undefined;
}

interface LintedGroup {
  /** The value of its first user-agent line. */
  readonly agentLine: Span;
  /** Without duplicates. */
  readonly agents: LintedAgent[];
  /** Rules that can match something. */
  readonly rules: RankedRule[];
  ruleLines: number;
  /** The first rule without a path. */
  voidRule: Span | undefined;
  /** Of the rules about all paths, the deciding one. */
  root: RankedRule | undefined;
}

/** Bounds the time for files with thousands of names. */
const MAX_COMPARISONS = 100_000;

/** Finds problems of groups, and of rules in relation to each other. */
export class GroupLint {
  readonly #traits: DialectTraits;
  readonly #report: Report;
  readonly #groups: LintedGroup[] = [];
  readonly #agents = new Map<string, LintedAgent>();

  /** The number of pairs of names that were compared. */
  #comparisons = 0;

  constructor(traits: DialectTraits, report: Report) {
    this.#traits = traits;
    this.#report = report;
  }

  /** The group started last. */
  get last(): LintedGroup {
    return this.#groups.at(-1)!;
  }

  /** Whether there is one group only, and it is for all agents. */
  get isForAll(): boolean {
    return this.#groups.length === 1 && this.#agents.has('*');
  }

  start(agentLine: Span): void {
    this.#groups.push({
      agentLine,
      agents: [],
      rules: [],
      ruleLines: 0,
      voidRule: undefined,
      root: undefined,
    });
  }

  /** Adds an agent named by a user-agent line of the last group. */
  addAgent(agent: string, span: Span): void {
    const group = this.last;
    const { agents } = group;
    const name = agent.toLowerCase();
    let known = this.#agents.get(name);
    if (known === undefined) {
      known = { name, line: span.line, group, isRuled: false, root: undefined, rules: undefined };
      this.#agents.set(name, known);
    } else if (known.group === group) return;
    else {
      known.group = group;
      this.#report.add('duplicate-group', 'warning', span, { agent, otherLine: known.line });
    }
    agents.push(known);
    if (agents.length < 2) return;
    // Reported once: at a star after other names, or at the first name after a star.
    if (name === '*' || (agents.length === 2 && agents[0]!.name === '*')) {
      this.#report.add('mixed-group', 'info', span, { agent, otherLine: group.agentLine.line });
    }
  }

  /** Adds a rule of the last group that can match something. */
  addRule(rule: RankedRule): void {
    const group = this.last;
    group.rules.push(rule);
    const isRoot = rule.wholePrefix && rule.prefixLength < 2;
    if (isRoot && this.#wins(rule, group.root)) group.root = rule;
  }

  /** Reports problems that are known only at the end of the file. */
  finish(): void {
    const merged = this.#merge();
    const report = this.#report;
    const overruled = new Set<RankedRule>();
    for (const { agentLine, agents, root } of this.#groups) {
      const idle = agents.find((agent) => !agent.isRuled && !this.#isPartlyNamed(agent.name));
      if (idle !== undefined) report.add('empty-group', 'warning', agentLine, { agent: idle.name });
      if (root === undefined || root.allow) continue;
      const agent = agents.find((each) => each.root!.allow);
      if (agent === undefined) continue;
      overruled.add(root);
      report.add('merge-allows-all', 'error', root, { agent: agent.name, otherLine: agent.root!.line });
    }
    for (const rules of merged) {
      findShadowed(rules, this.#traits, (rule, { line }) => {
        if (!overruled.has(rule)) report.add('shadowed-rule', 'warning', rule, { otherLine: line });
      });
    }
  }

  /** Assigns rules to agents. Returns the rules that always apply together, because they are for the same agents. */
  #merge(): readonly (readonly RankedRule[])[] {
    const merged: RankedRule[][] = [];
    const byNames = new Map<string, RankedRule[]>();
    for (const { agents, root, rules, ruleLines, voidRule } of this.#groups) {
      if (rules.length > 0 && voidRule !== undefined) this.#report.add('empty-rule', 'info', voidRule);
      for (const agent of agents) {
        if (ruleLines > 0) agent.isRuled = true;
        if (root !== undefined && this.#wins(root, agent.root)) agent.root = root;
      }
      if (rules.length === 0) continue;
      const [alone] = agents;
      const names =
        agents.length === 1
          ? ''
          : agents
              .map(({ name }) => name)
              .sort()
              .join();
      const others = agents.length === 1 ? alone!.rules : byNames.get(names);
      if (others !== undefined) {
        for (const rule of rules) others.push(rule);
        continue;
      }
      merged.push(rules);
      if (agents.length === 1) alone!.rules = rules;
      else byNames.set(names, rules);
    }
    return merged;
  }

  /**
   * Whether rules for another agent apply to the agent `name`, too, because that agent's name is a part of it: "substring
   * match" (robotstxt.org). After {@link MAX_COMPARISONS} the result is true.
   */
  #isPartlyNamed(name: string): boolean {
    if (this.#traits.agentMatch === 'whole' || name === '*') return false;
    for (const other of this.#agents.values()) {
      if (++this.#comparisons > MAX_COMPARISONS) return true;
      if (other.isRuled && other.name !== '*' && name.includes(other.name)) return true;
    }
    return false;
  }

  #wins(rule: RankedRule, other: RankedRule | undefined): boolean {
    return other === undefined || beats(rule, other, this.#traits);
  }
}
