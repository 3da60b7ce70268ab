import type { DialectTraits } from '../dialect.ts';
import type { Report, Span } from './diagnostic.ts';
import {
  addTo,
  beats,
  findShadowed,
  RankedPatterns,
  type RankedRule,
  type RuleList,
} from './shadowed-rules.ts';

/** An agent that user-agent lines name. */
interface LintedAgent {
  /** In lower case. */
  readonly name: string;
  /** The first line that names it. */
  readonly line: number;
  /** The number of the last group that does. */
  group: number;
  /** Whether one of its groups has a rule. */
  isRuled: boolean;
  /** Of the rules about all paths in its groups, the deciding one. */
  root: RankedRule | undefined;
  /** The rules of the groups that name it alone. */
  rules: RuleList | undefined;
  /** Itself: the groups that name it alone share this list. */
  alone: LintedAgent[] | undefined;
}

interface LintedGroup {
  /** The value of its first user-agent line. */
  readonly agentLine: Span;
  /** Without duplicates. */
  agents: LintedAgent[];
  /** Where its rules are that can match something. */
  rules: RuleList | undefined;
  ruleLines: number;
  /** The first rule without a path. */
  voidRule: Span | undefined;
  /** Of the rules about all paths, the deciding one. */
  root: RankedRule | undefined;
}

/** Bounds the time for files with thousands of names. */
const MAX_COMPARISONS = 100_000;

/**
 * Finds problems of groups, and of rules in relation to each other. Groups of which nothing is left to say are dropped when
 * they end: a file may have tens of thousands.
 */
export class GroupLint {
  readonly #traits: DialectTraits;
  readonly #report: Report;
  readonly #patterns: RankedPatterns;
  readonly #agents = new Map<string, LintedAgent>();
  /** Groups that have a rule about all paths, or none. */
  readonly #groups: LintedGroup[] = [];
  #last: LintedGroup | undefined;
  #count = 0;
  /** The rules that always apply together: those of the same agents. */
  readonly #merged: RuleList[] = [];
  readonly #byNames = new Map<string, RuleList>();

  /** The number of pairs of names that were compared. */
  #comparisons = 0;

  constructor(bytes: Uint8Array, traits: DialectTraits, report: Report) {
    this.#traits = traits;
    this.#report = report;
    this.#patterns = new RankedPatterns(bytes, traits);
  }

  /** The group started last. */
  get last(): LintedGroup {
    return this.#last!;
  }

  /** Whether there is one group only, and it is for all agents. */
  get isForAll(): boolean {
    return this.#count === 1 && this.#agents.has('*');
  }

  start(agentLine: Span): void {
    this.#end();
    this.#count++;
    this.#last = {
      agentLine,
      agents: [],
      rules: undefined,
      ruleLines: 0,
      voidRule: undefined,
      root: undefined,
    };
  }

  /** Adds an agent named by a user-agent line of the last group. */
  addAgent(agent: string, span: Span): void {
    const group = this.last;
    const name = agent.toLowerCase();
    let known = this.#agents.get(name);
    if (known === undefined) {
      known = {
        name,
        line: span.line,
        group: this.#count,
        isRuled: false,
        root: undefined,
        rules: undefined,
        alone: undefined,
      };
      this.#agents.set(name, known);
    } else if (known.group === this.#count) return;
    else {
      known.group = this.#count;
      this.#report.add('duplicate-group', 'warning', span, { agent, otherLine: known.line });
    }
    const { agents } = group;
    const [first] = agents;
    if (first === undefined) {
      group.agents = known.alone ??= [known];
      return;
    }
    if (agents.length === 1) group.agents = [first, known];
    else agents.push(known);
    // Reported once: at a star after other names, or at the first name after a star.
    if (name === '*' || (agents.length === 1 && first.name === '*')) {
      this.#report.add('mixed-group', 'info', span, { agent, otherLine: group.agentLine.line });
    }
  }

  /** Adds a rule of the last group that can match something. */
  addRule({ line, column, start, end }: Span, allow: boolean): void {
    const group = this.last;
    const pattern = this.#patterns.read(start, end);
    const rule = { line, column, start, end, allow, pattern, winner: undefined, next: undefined };
    group.rules ??= this.#rulesOf(group.agents, rule);
    addTo(group.rules, rule);
    const isRoot = pattern.wholePrefix && pattern.prefixLength < 2;
    if (isRoot && this.#wins(rule, group.root)) group.root = rule;
  }

  /** The list of these agents, which begins with `rule` if there is none. */
  #rulesOf(agents: readonly LintedAgent[], rule: RankedRule): RuleList {
    const [alone] = agents;
    const isAlone = alone !== undefined && agents.length === 1;
    const names = isAlone
      ? ''
      : agents
          .map(({ name }) => name)
          .sort()
          .join();
    const known = isAlone ? alone.rules : this.#byNames.get(names);
    if (known !== undefined) return known;
    // V8 would reserve 17 places when it first adds to an empty list.
    const rules: RuleList = [rule];
    this.#merged.push(rules);
    if (isAlone) alone.rules = rules;
    else this.#byNames.set(names, rules);
    return rules;
  }

  /** Ends the last group: gives its agents what it has. */
  #end(): void {
    const group = this.#last;
    if (group === undefined) return;
    const { agents, root, rules, ruleLines, voidRule } = group;
    if (rules !== undefined && voidRule !== undefined) this.#report.add('empty-rule', 'info', voidRule);
    for (const agent of agents) {
      if (ruleLines > 0) agent.isRuled = true;
      if (root !== undefined && this.#wins(root, agent.root)) agent.root = root;
    }
    if (ruleLines === 0 || root !== undefined) this.#groups.push(group);
  }

  /** Reports problems that are known only at the end of the file. */
  finish(): void {
    this.#end();
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
    for (const rules of this.#merged) {
      findShadowed(rules, this.#traits, (rule, { line }) => {
        if (!overruled.has(rule)) report.add('shadowed-rule', 'warning', rule, { otherLine: line });
      });
    }
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
