import type { DialectTraits } from '../dialect.ts';
import type { Report, Span } from './diagnostic.ts';
import { beats, findShadowed, type RankedRule } from './shadowed-rules.ts';

interface LintedGroup {
  /** The value of its first user-agent line. */
  readonly agentLine: Span;
  /** Names in lower case, without duplicates. */
  readonly names: string[];
  /** Rules that can match something. */
  readonly rules: RankedRule[];
  ruleLines: number;
  /** The first rule without a path. */
  voidRule?: Span;
  /** The one that decides, of the rules about all paths. */
  root?: RankedRule;
}

/** Bounds the time for files with thousands of names. */
const MAX_COMPARISONS = 100_000;

/** Finds problems of groups, and of rules in relation to each other. */
export class GroupLint {
  readonly #traits: DialectTraits;
  readonly #report: Report;
  readonly #groups: LintedGroup[] = [];
  /** The first line that names an agent, and the last group that does. */
  readonly #agents = new Map<string, { readonly line: number; group: LintedGroup }>();

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
    return this.#groups.length === 1 && this.last.names.includes('*');
  }

  start(agentLine: Span): void {
    this.#groups.push({ agentLine, names: [], rules: [], ruleLines: 0 });
  }

  /** Adds an agent named by a user-agent line of the last group. */
  addAgent(agent: string, span: Span): void {
    const group = this.last;
    const { names } = group;
    const name = agent.toLowerCase();
    const known = this.#agents.get(name);
    if (known === undefined) this.#agents.set(name, { line: span.line, group });
    else if (known.group === group) return;
    else {
      known.group = group;
      this.#report.add('duplicate-group', 'warning', span, { agent, otherLine: known.line });
    }
    names.push(name);
    const star = this.#agents.get('*')?.group === group;
    if (name === '*' ? names.length > 1 : star && names.length === 2) {
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
    const report = this.#report;
    /** Agents with a group that has rules. */
    const ruled = new Set<string>();
    /** By agent: the one that decides, of its rules about all paths. */
    const roots = new Map<string, RankedRule>();
    /** Rules by their agents: groups for the same agents always apply together. */
    const merged = new Map<string, RankedRule[]>();
    for (const { names, root, rules, ruleLines, voidRule } of this.#groups) {
      if (rules.length > 0 && voidRule !== undefined) report.add('empty-rule', 'info', voidRule);
      for (const name of names) {
        if (ruleLines > 0) ruled.add(name);
        if (root !== undefined && this.#wins(root, roots.get(name))) roots.set(name, root);
      }
      const agents = names.length === 1 ? names[0]! : names.sort().join();
      const others = merged.get(agents);
      if (others === undefined) merged.set(agents, rules);
      else for (const rule of rules) others.push(rule);
    }

    const overruled = new Set<RankedRule>();
    for (const { agentLine, names, root } of this.#groups) {
      const idle = names.find((name) => !ruled.has(name) && !this.#isPartlyNamed(name, ruled));
      if (idle !== undefined) report.add('empty-group', 'warning', agentLine, { agent: idle });
      if (root === undefined || root.allow) continue;
      const agent = names.find((name) => roots.get(name)!.allow);
      if (agent === undefined) continue;
      overruled.add(root);
      report.add('merge-allows-all', 'error', root, { agent, otherLine: roots.get(agent)!.line });
    }
    for (const rules of merged.values()) {
      findShadowed(rules, this.#traits, (rule, { line }) => {
        if (!overruled.has(rule)) report.add('shadowed-rule', 'warning', rule, { otherLine: line });
      });
    }
  }

  /**
   * Whether rules for one of `ruled` apply to the agent `name`, too, because that name is a part of it: "substring match"
   * (robotstxt.org). Past a number of comparisons it is taken to be so.
   */
  #isPartlyNamed(name: string, ruled: ReadonlySet<string>): boolean {
    if (this.#traits.agentMatch === 'whole' || name === '*') return false;
    this.#comparisons += ruled.size;
    if (this.#comparisons > MAX_COMPARISONS) return true;
    return [...ruled].some((other) => other !== '*' && name.includes(other));
  }

  #wins(rule: RankedRule, other: RankedRule | undefined): boolean {
    return other === undefined || beats(rule, other, this.#traits);
  }
}
