import type { RobotsFile } from '../file.ts';
import type { UsageDirective } from '../usage/usage-source.ts';
import type { Report, Span } from './diagnostic.ts';
import { type LintedRule, MergedRules, Patterns } from './merged-rules.ts';

/** An agent that user-agent lines name. */
export interface LintedAgent {
  /** In lower case, and as the file first has it. */
  readonly name: string;
  readonly written: string;
  /** The first value that names it. */
  readonly span: Span;
  /** The last group that does, and all of them while the file is small. */
  group: LintedGroup;
  readonly groups: LintedGroup[];
  isRuled: boolean;
  /** The line of its first preference of each kind. */
  preferences: Partial<Record<UsageDirective, number>> | undefined;
}

export interface LintedGroup {
  /** The value of its first user-agent line. */
  readonly agentLine: Span;
  /** Without duplicates. */
  readonly agents: LintedAgent[];
  /** Its rules that can match something. */
  readonly rules: LintedRule[];
  /** Whether it has rules, with or without a path. */
  isRuled: boolean;
  /** What its author probably took for its end, the first time, and the agents that only lines before that name. */
  runsOn:
    | { readonly line: number; readonly directive: string; readonly before: Set<LintedAgent> }
    | undefined;
}

/** Bounds the time: rules that are merged, and questions to the matcher. */
const MAX_QUESTIONS = 100_000;
const MAX_LINES_SHOWN = 3;
const MAX_AGENTS_SHOWN = 10;

/** Agents that the same groups name, and the rules that therefore apply to them. */
interface Party {
  readonly agents: LintedAgent[];
  readonly groups: readonly LintedGroup[];
  readonly merged: MergedRules;
  /** Whether all paths are disallowed to them. */
  readonly isClosed: boolean;
}

/** Finds what groups and rules do to each other. A finding goes away when what it names is undone. */
export class Relations {
  readonly #report: Report;
  readonly #groups: readonly LintedGroup[];
  readonly #patterns: Patterns;
  readonly #parties: readonly Party[];
  #questions = 0;

  private constructor(
    report: Report,
    groups: readonly LintedGroup[],
    agents: readonly LintedAgent[],
    patterns: Patterns,
  ) {
    this.#report = report;
    this.#groups = groups;
    this.#patterns = patterns;
    this.#parties = this.#partiesOf(agents);
  }

  /** @param apart The lines of preferences that stand apart from all groups. */
  static report(
    file: RobotsFile,
    report: Report,
    groups: readonly LintedGroup[],
    agents: readonly LintedAgent[],
    apart: ReadonlySet<number>,
  ): void {
    const patterns = Patterns.of(
      file,
      groups.flatMap(({ rules }) => rules),
    );
    if (patterns !== undefined) new Relations(report, groups, agents, patterns).#reportAll(apart);
  }

  #partiesOf(agents: readonly LintedAgent[]): readonly Party[] {
    const numbers = new Map(this.#groups.map((group, at) => [group, at]));
    const parties = new Map<string, Party>();
    for (const agent of agents) {
      const key = agent.groups.map((group) => numbers.get(group)).join();
      const party = parties.get(key);
      if (party === undefined) parties.set(key, this.#partyOf(agent));
      else party.agents.push(agent);
    }
    return [...parties.values()];
  }

  #partyOf(agent: LintedAgent): Party {
    const merged = this.#merge(agent.groups.flatMap(({ rules }) => rules));
    const isClosed =
      merged.isWhole &&
      merged.deciding(this.#patterns.anywhere)?.allow === false &&
      merged.rules.every((rule) => !rule.allow || merged.decidingAllOf(rule)?.allow === false);
    return { agents: [agent], groups: agent.groups, merged, isClosed };
  }

  #merge(rules: readonly LintedRule[]): MergedRules {
    this.#questions += rules.length;
    return new MergedRules(this.#patterns, rules, this.#questions > MAX_QUESTIONS);
  }

  #reportAll(apart: ReadonlySet<number>): void {
    this.#reportShadowed(this.#reportOverruled());
    this.#reportRunsOn();
    const star = this.#parties.find(({ agents }) => agents.some(({ name }) => name === '*'));
    if (star === undefined) return;
    this.#reportClosed(star);
    for (const party of this.#parties) {
      if (party === star || party.isClosed) continue;
      if (party.merged.rules.length > 0) this.#reportNotInherited(party, star);
      if (!star.isClosed) this.#reportPreferences(party, star, apart);
    }
  }

  /** A `Disallow: /` that an `Allow: /` of another group overrules. @returns the lines of these. */
  #reportOverruled(): ReadonlySet<number> {
    const lines = new Set<number>();
    for (const { agents, groups, merged } of this.#parties) {
      const winner = merged.deciding(this.#patterns.anywhere);
      if (groups.length < 2 || winner?.allow !== true || !merged.isWhole) continue;
      const group = groups.find(({ rules }) => rules.includes(winner));
      const rival = this.#merge(merged.rules.filter((rule) => rule !== winner)).deciding(
        this.#patterns.anywhere,
      );
      if (
        rival === undefined ||
        rival.allow ||
        group?.rules.includes(rival) === true ||
        lines.has(rival.line)
      )
        continue;
      lines.add(rival.line);
      const runsOn = (group?.runsOn?.directive ?? '') === '' ? {} : { kind: 'runs-on' };
      this.#report.add('merge-allows-all', rival, {
        agent: agents[0]!.written,
        otherLine: winner.line,
        ...runsOn,
      });
    }
    return lines;
  }

  /** Rules that decide nothing for any of their agents, as long as one and the same rule wins. */
  #reportShadowed(overruled: ReadonlySet<number>): void {
    const winners = new Map<LintedRule, LintedRule | undefined>();
    for (const { merged } of this.#parties) {
      for (const rule of merged.rules) {
        const winner = merged.isAsked ? merged.decidingAllOf(rule) : undefined;
        const known = winners.has(rule) ? winners.get(rule) : winner;
        winners.set(rule, known === winner && winner !== rule ? winner : undefined);
      }
    }
    for (const [rule, winner] of winners) {
      if (winner !== undefined && !overruled.has(rule.line))
        this.#report.add('shadowed-rule', rule, { otherLine: winner.line });
    }
  }

  /** Groups that run on over a line, where their end there would allow something to an agent before it. */
  #reportRunsOn(): void {
    const partyOf = new Map(this.#parties.flatMap((party) => party.agents.map((agent) => [agent, party])));
    for (const group of this.#groups) {
      const { agents, runsOn } = group;
      if (runsOn === undefined || runsOn.before.size === agents.length) continue;
      const before = new Set([...runsOn.before].map((agent) => partyOf.get(agent)!));
      const rule = this.#tying(group, before);
      if (rule === undefined) continue;
      const { directive: kind, line: otherLine } = runsOn;
      const severity = kind === '' ? 'info' : 'warning';
      const more = { severity, kind, otherLine, agents: shown(agents) } as const;
      this.#report.add('group-runs-on', rule, more, kind && ' ');
    }
  }

  /** The rule of a group, about all paths if there is one, that disallows something to a party by this group alone. */
  #tying(group: LintedGroup, parties: ReadonlySet<Party>): LintedRule | undefined {
    const rules = group.rules.filter(({ allow }) => !allow);
    rules.sort((a, b) => Number(this.#patterns.isForAll(b)) - Number(this.#patterns.isForAll(a)));
    for (const { groups, merged } of parties) {
      const others = this.#merge(groups.flatMap((each) => (each === group ? [] : each.rules)));
      if (!merged.isWhole || !others.isWhole) continue;
      const tying = rules.find((rule) =>
        this.#patterns
          .targetsOf(rule)
          .some((target) => merged.deciding(target) === rule && others.deciding(target)?.allow !== false),
      );
      if (tying !== undefined) return tying;
    }
    return undefined;
  }

  #reportClosed(star: Party): void {
    if (!star.isClosed) return;
    const line = star.merged.deciding(this.#patterns.anywhere);
    if (line === undefined) return;
    const open = this.#parties.filter((party) => party !== star && !party.isClosed);
    this.#report.add('site-closed', line, {
      otherLine: line.line,
      agents: shown(open.flatMap(({ agents }) => agents)),
    });
  }

  /** What is disallowed to `*`, allowed to a party, and would be disallowed to it if it had the rule. */
  #reportNotInherited({ agents, groups, merged }: Party, star: Party): void {
    const both = this.#merge([...new Set([...star.merged.rules, ...merged.rules])]);
    if (!both.isWhole || !merged.isWhole || !star.merged.isWhole) return;
    const lost = star.merged.rules.filter((rule) => {
      if (rule.allow || this.#patterns.isForAll(rule) || ++this.#questions > MAX_QUESTIONS) return false;
      return this.#patterns
        .targetsOf(rule)
        .every(
          (target) =>
            star.merged.deciding(target) === rule &&
            merged.deciding(target)?.allow !== false &&
            both.deciding(target) === rule,
        );
    });
    if (lost.length === 0) return;
    const otherLines = lost.slice(0, MAX_LINES_SHOWN).map(({ line }) => line);
    this.#report.add('not-inherited', groups[0]!.agentLine, { agents: shown(agents), otherLines });
  }

  #reportPreferences({ agents, groups }: Party, star: Party, apart: ReadonlySet<number>): void {
    const { preferences = {} } = star.agents.find(({ name }) => name === '*') ?? {};
    for (const [directive, otherLine] of Object.entries(preferences)) {
      const kind = directive === 'content-usage' ? directive : 'content-signal';
      const without = agents.filter(({ preferences: own }) => own?.[kind] === undefined);
      if (apart.has(otherLine) || without.length === 0) continue;
      this.#report.add('preference-not-inherited', groups[0]!.agentLine, {
        agents: shown(without),
        otherLine,
      });
    }
  }
}

function shown(agents: readonly LintedAgent[]): readonly string[] {
  return agents.slice(0, MAX_AGENTS_SHOWN).map(({ written }) => written);
}
