import { asCharacters, DOLLAR, SLASH, STAR } from '../bytes.ts';
import type { RobotsFile } from '../file.ts';
import type { UsageDirective } from '../usage/usage-source.ts';
import type { Span } from './diagnostic.ts';
import { type LintedRule, MergedRules, unusedCharacter } from './merged-rules.ts';
import type { Report } from './report.ts';

/** An agent that user-agent lines name. */
interface LintedAgent {
  /** In lower case, and as the file first has it. */
  readonly name: string;
  readonly written: string;
  /** The first line that names it. */
  readonly line: number;
  /** The number of the last group that does. */
  group: number;
  /** Whether one of its groups has a rule, and one that allows. */
  isRuled: boolean;
  allows: boolean;
  /** The line of its first preference of each kind. */
  preferences: Partial<Record<UsageDirective, number>> | undefined;
  /** Of the rules about all paths in its groups, the deciding one. */
  root: LintedRule | undefined;
  /** Whether the group of {@link root} runs on over a directive. */
  rootRunsOn: boolean;
}

interface LintedGroup {
  /** The value of its first user-agent line. */
  readonly agentLine: Span;
  /** Without duplicates. */
  readonly agents: LintedAgent[];
  /** Its rules that can match something. */
  readonly rules: LintedRule[];
  ruleLines: number;
  allows: boolean;
  /** What its author probably took for its end, the first time. */
  runsOn: { readonly line: number; readonly directive: string } | undefined;
  /** The number of rules without a path, and the first of them. */
  voidLines: number;
  voidRule: Span | undefined;
  /** Of the rules about all paths, the deciding one. */
  root: LintedRule | undefined;
}

/** Bounds the time for files with thousands of names. */
const MAX_COMPARISONS = 100_000;
/** Rules of files with more are not compared with each other. */
const MAX_RULES = 2_000;
/** Bounds the time for many groups beside many rules of `*`. */
const MAX_QUESTIONS = 100_000;
const MAX_LINES_SHOWN = 3;
const MAX_AGENTS_SHOWN = 10;

/** The rules that always apply together: those of the same agents. */
interface MergedGroups {
  readonly agentLine: Span;
  readonly agents: readonly LintedAgent[];
  readonly rules: LintedRule[];
}

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
  /** By the names of the agents, until there are too many rules. */
  readonly #merged = new Map<string, MergedGroups>();
  /** Where the agents of the current block begin among those of the group. */
  #blockStart = 0;

  /** The number of pairs of names that were compared, and of questions to the matcher. */
  #comparisons = 0;
  #questions = 0;

  constructor(file: RobotsFile, report: Report) {
    this.#file = file;
    this.#report = report;
  }

  /** The group started last. */
  get last(): LintedGroup {
    return this.#last!;
  }

  get hasAgents(): boolean {
    return this.#count > 0;
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
      allows: false,
      runsOn: undefined,
      voidLines: 0,
      voidRule: undefined,
      root: undefined,
    };
  }

  /** The last group goes on behind a line that its author may take for its end. */
  runOn(line: number, directive: string): void {
    this.last.runsOn ??= { line, directive };
  }

  startBlock(): void {
    this.#blockStart = this.last.agents.length;
  }

  /** Adds a preference of the current block. */
  addPreference(directive: UsageDirective, line: number): void {
    for (const agent of this.last.agents.slice(this.#blockStart))
      (agent.preferences ??= {})[directive] ??= line;
  }

  /** Adds an agent named by a user-agent line of the last group. */
  addAgent(agent: string, span: Span): void {
    const { agents, agentLine } = this.last;
    const name = agent.toLowerCase();
    let known = this.#agents.get(name);
    if (known === undefined) {
      known = {
        name,
        written: agent,
        line: span.line,
        group: this.#count,
        isRuled: false,
        allows: false,
        preferences: undefined,
        root: undefined,
        rootRunsOn: false,
      };
      this.#agents.set(name, known);
    } else if (known.group === this.#count) return;
    else {
      known.group = this.#count;
      this.#report.add('duplicate-group', span, { agent, otherLine: known.line });
    }
    agents.push(known);
    // Reported once: at a star after other names, or at the first name after a star.
    if (agents.length > 1 && (name === '*' || (agents.length === 2 && agents[0]!.name === '*'))) {
      this.#report.add('mixed-group', span, { agent, otherLine: agentLine.line });
    }
  }

  /** Adds a rule of the last group that can match something. */
  addRule(span: Span, allow: boolean): void {
    const group = this.last;
    group.allows ||= allow;
    const isCompared = ++this.#rules <= MAX_RULES;
    const isRoot = this.#isRoot(span) && this.#wins(span, allow, group.root);
    if (!isCompared && !isRoot) return;
    const rule = { ...span, allow };
    if (isCompared) group.rules.push(rule);
    if (isRoot) group.root = rule;
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
    if (voidRule !== undefined && ruleLines > voidLines) this.#report.add('empty-rule', voidRule);
    for (const agent of agents) {
      if (ruleLines > 0) agent.isRuled = true;
      agent.allows ||= group.allows;
      if (root === undefined || !this.#wins(root, root.allow, agent.root)) continue;
      agent.root = root;
      agent.rootRunsOn = (group.runsOn?.directive ?? '') !== '';
    }
    this.#reportRunOn(group);
    if (ruleLines === 0 || root !== undefined) this.#groups.push(group);
    if (rules.length === 0) return;
    const names =
      agents.length === 1
        ? agents[0]!.name
        : agents
            .map(({ name }) => name)
            .sort()
            .join();
    const merged = this.#merged.get(names);
    if (merged === undefined) this.#merged.set(names, { agentLine: group.agentLine, agents, rules });
    else merged.rules.push(...rules);
  }

  /** What it comes to that a group runs on: reported once, of its rule about all paths, else of its first rule. */
  #reportRunOn({ agents, root, rules, runsOn }: LintedGroup): void {
    const rule = root ?? rules[0];
    if (runsOn === undefined || rule === undefined || rule.allow) return;
    const { directive: kind, line: otherLine } = runsOn;
    const severity = kind === '' ? 'info' : 'warning';
    this.#report.add(
      'group-runs-on',
      rule,
      { severity, kind, otherLine, agents: shown(agents) },
      kind && ' ',
    );
  }

  /**
   * Reports problems that are known only at the end of the file.
   *
   * @param apart The lines of preferences that stand apart from all groups.
   */
  finish(apart: ReadonlySet<number>): void {
    this.#end();
    const report = this.#report;
    const overruled = new Set<number>();
    for (const { agentLine, agents, root } of this.#groups) {
      const idle = agents.find((agent) => !agent.isRuled && !this.#isPartlyNamed(agent.name));
      if (idle !== undefined) report.add('empty-group', agentLine, { agent: idle.written });
      if (root === undefined || root.allow) continue;
      const agent = agents.find((each) => each.root!.allow);
      if (agent === undefined) continue;
      overruled.add(root.line);
      const otherLine = agent.root!.line;
      const kind = agent.rootRunsOn ? { kind: 'runs-on' } : {};
      report.add('merge-allows-all', root, { agent: agent.written, otherLine, ...kind });
    }
    this.#reportClosed();
    if (this.#rules > MAX_RULES) return;
    const { bytes } = this.#file;
    const groups = [...this.#merged.values()];
    const patterns = groups.flatMap(({ rules }) => rules.map(({ start, end }) => bytes.subarray(start, end)));
    const filling = unusedCharacter(patterns.map(asCharacters).join('\n'));
    if (filling === undefined) return;
    const star = this.#agents.get('*');
    const starRules = groups.flatMap(({ agents, rules }) =>
      agents.some((each) => each === star) ? rules : [],
    );
    const ofStar = new MergedRules(this.#file, starRules, filling);
    for (const group of groups) {
      const isNamed = star !== undefined && !group.agents.some((agent) => agent === star || isClosed(agent));
      if (group.rules.length < 2 && !isNamed) continue;
      const merged = new MergedRules(this.#file, group.rules, filling);
      for (const { rule, winner } of merged.shadowed()) {
        if (!overruled.has(rule.line)) report.add('shadowed-rule', rule, { otherLine: winner.line });
      }
      if (star !== undefined && isNamed)
        this.#reportNotInherited(group, star, apart, { merged, ofStar, starRules });
    }
  }

  #reportClosed(): void {
    const star = this.#agents.get('*');
    if (star?.root === undefined || !isClosed(star)) return;
    const open = [...this.#agents.values()].filter((agent) => agent !== star && !isClosed(agent));
    this.#report.add('site-closed', star.root, { otherLine: star.root.line, agents: shown(open) });
  }

  /** Reports what holds for `*`, and not for a group that names its agents. */
  #reportNotInherited(
    { agentLine, agents }: MergedGroups,
    star: LintedAgent,
    apart: ReadonlySet<number>,
    {
      merged,
      ofStar,
      starRules,
    }: { merged: MergedRules; ofStar: MergedRules; starRules: readonly LintedRule[] },
  ): void {
    const lost: number[] = [];
    if (!merged.isTooWild && !ofStar.isTooWild) {
      for (const rule of starRules) {
        if (rule.allow || this.#isRoot(rule) || ++this.#questions > MAX_QUESTIONS) continue;
        const isOpen = ofStar
          .targetsOf(rule)
          .every(
            (target) => ofStar.deciding(target)?.allow === false && merged.deciding(target)?.allow !== false,
          );
        if (isOpen && lost.push(rule.line) === MAX_LINES_SHOWN) break;
      }
    }
    const named = shown(agents);
    if (lost.length > 0) this.#report.add('not-inherited', agentLine, { agents: named, otherLines: lost });
    for (const [directive, line] of Object.entries(star.preferences ?? {})) {
      const kind = directive === 'content-usage' ? directive : 'content-signal';
      if (apart.has(line) || agents.some(({ preferences }) => preferences?.[kind] !== undefined)) continue;
      this.#report.add('preference-not-inherited', agentLine, { agents: named, otherLine: line });
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
  #wins(rule: Span, allow: boolean, other: LintedRule | undefined): boolean {
    if (other === undefined) return true;
    if (this.#file.traits.decides === 'longest') {
      const longer = rule.end - rule.start - (other.end - other.start);
      if (longer !== 0) return longer > 0;
      if (allow !== other.allow) return allow;
    }
    return rule.line < other.line;
  }
}

/** Whether everything is disallowed to an agent. */
function isClosed({ allows, root }: LintedAgent): boolean {
  return root !== undefined && !root.allow && !allows;
}

function shown(agents: readonly LintedAgent[]): readonly string[] {
  return agents.slice(0, MAX_AGENTS_SHOWN).map(({ written }) => written);
}
