import { DOLLAR, SLASH, STAR } from '../bytes.ts';
import type { RobotsFile } from '../file.ts';
import type { Report, Span } from './diagnostic.ts';
import { findShadowed, type LintedRule } from './shadowed-rules.ts';

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
  root: LintedRule | undefined;
}

interface LintedGroup {
  /** The value of its first user-agent line. */
  readonly agentLine: Span;
  /** Without duplicates. */
  readonly agents: LintedAgent[];
  /** Its rules that can match something. */
  readonly rules: LintedRule[];
  ruleLines: number;
  /** The number of rules without a path, and the first of them. */
  voidLines: number;
  voidRule: Span | undefined;
  /** Of the rules about all paths, the deciding one. */
  root: LintedRule | undefined;
}

/** Bounds the time for files with thousands of names. */
const MAX_COMPARISONS = 100_000;
/** Files with more rules are not searched for rules that never decide. */
const MAX_RULES = 2_000;

/**
 * Finds problems of groups, and of rules in relation to each other. Groups of which nothing is left to say are dropped when
 * they end: a file may have tens of thousands.
 */
export class GroupLint {
  readonly #file: RobotsFile;
  readonly #report: Report;
  readonly #agents = new Map<string, LintedAgent>();
  /** Groups that have a rule about all paths, or none. */
  readonly #groups: LintedGroup[] = [];
  #last: LintedGroup | undefined;
  #count = 0;
  #rules = 0;
  /** The rules that always apply together: those of the same agents, until there are too many. */
  readonly #merged = new Map<string, LintedRule[]>();

  /** The number of pairs of names that were compared. */
  #comparisons = 0;

  constructor(file: RobotsFile, report: Report) {
    this.#file = file;
    this.#report = report;
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
      rules: [],
      ruleLines: 0,
      voidLines: 0,
      voidRule: undefined,
      root: undefined,
    };
  }

  /** Adds an agent named by a user-agent line of the last group. */
  addAgent(agent: string, span: Span): void {
    const { agents, agentLine } = this.last;
    const name = agent.toLowerCase();
    let known = this.#agents.get(name);
    if (known === undefined) {
      known = { name, line: span.line, group: this.#count, isRuled: false, root: undefined };
      this.#agents.set(name, known);
    } else if (known.group === this.#count) return;
    else {
      known.group = this.#count;
      this.#report.add('duplicate-group', 'warning', span, { agent, otherLine: known.line });
    }
    agents.push(known);
    // Reported once: at a star after other names, or at the first name after a star.
    if (agents.length > 1 && (name === '*' || (agents.length === 2 && agents[0]!.name === '*'))) {
      this.#report.add('mixed-group', 'info', span, { agent, otherLine: agentLine.line });
    }
  }

  /** Adds a rule of the last group that can match something. */
  addRule(span: Span, allow: boolean): void {
    const group = this.last;
    const isRoot = this.#isRoot(span);
    if (++this.#rules > MAX_RULES && !isRoot) return;
    const rule = { ...span, allow };
    if (this.#rules <= MAX_RULES) group.rules.push(rule);
    if (isRoot && this.#wins(rule, group.root)) group.root = rule;
  }

  /** Whether the pattern matches every path: `/`, or stars alone. */
  #isRoot({ start, end }: Span): boolean {
    const { bytes, traits } = this.#file;
    let at = bytes[start] === SLASH ? start + 1 : start;
    if (at === end || !traits.wildcards) return at === end;
    if (end - start > 1 && bytes[end - 1] === DOLLAR && bytes[end - 2] === STAR) end--;
    while (at < end && bytes[at] === STAR) at++;
    return at === end;
  }

  /** Ends the last group: gives its agents what it has. */
  #end(): void {
    const group = this.#last;
    if (group === undefined) return;
    const { agents, root, rules, ruleLines, voidLines, voidRule } = group;
    if (voidRule !== undefined && ruleLines > voidLines) this.#report.add('empty-rule', 'info', voidRule);
    for (const agent of agents) {
      if (ruleLines > 0) agent.isRuled = true;
      if (root !== undefined && this.#wins(root, agent.root)) agent.root = root;
    }
    if (ruleLines === 0 || root !== undefined) this.#groups.push(group);
    if (rules.length === 0) return;
    const names = agents
      .map(({ name }) => name)
      .sort()
      .join();
    const merged = this.#merged.get(names);
    if (merged === undefined) this.#merged.set(names, rules);
    else merged.push(...rules);
  }

  /** Reports problems that are known only at the end of the file. */
  finish(): void {
    this.#end();
    const report = this.#report;
    const overruled = new Set<number>();
    for (const { agentLine, agents, root } of this.#groups) {
      const idle = agents.find((agent) => !agent.isRuled && !this.#isPartlyNamed(agent.name));
      if (idle !== undefined) report.add('empty-group', 'warning', agentLine, { agent: idle.name });
      if (root === undefined || root.allow) continue;
      const agent = agents.find((each) => each.root!.allow);
      if (agent === undefined) continue;
      overruled.add(root.line);
      report.add('merge-allows-all', 'error', root, { agent: agent.name, otherLine: agent.root!.line });
    }
    if (this.#rules > MAX_RULES) return;
    for (const rules of this.#merged.values()) {
      findShadowed(this.#file, rules, (rule, { line: otherLine }) => {
        if (!overruled.has(rule.line)) report.add('shadowed-rule', 'warning', rule, { otherLine });
      });
    }
  }

  /**
   * Whether rules for another agent apply to the agent `name`, too, because that agent's name is a part of it: "substring
   * match" (robotstxt.org). After {@link MAX_COMPARISONS} the result is true.
   */
  #isPartlyNamed(name: string): boolean {
    if (this.#file.traits.agentMatch === 'whole' || name === '*') return false;
    for (const other of this.#agents.values()) {
      if (++this.#comparisons > MAX_COMPARISONS) return true;
      if (other.isRuled && other.name !== '*' && name.includes(other.name)) return true;
    }
    return false;
  }

  /** Of two rules about all paths: by "the most octets", then allow, then file order. */
  #wins(rule: LintedRule, other: LintedRule | undefined): boolean {
    if (other === undefined) return true;
    if (this.#file.traits.decides === 'longest') {
      const longer = rule.end - rule.start - (other.end - other.start);
      if (longer !== 0) return longer > 0;
      if (rule.allow !== other.allow) return rule.allow;
    }
    return rule.line < other.line;
  }
}
