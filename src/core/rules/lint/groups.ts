import type { RobotsFile } from '../file.ts';
import type { UsageDirective } from '../usage/usage-source.ts';
import type { Report, Span } from './diagnostic.ts';
import { type LintedAgent, type LintedGroup, Relations } from './relations.ts';

/** Further names are not looked at: no site writes so many. */
const MAX_AGENTS = 5_000;
/** Files with more groups, names and rules than this are not looked at for what they do to each other. */
const MAX_RELATED = 4_000;

/** What is not kept of large files. */
const NONE: never[] = [];

/** Finds problems of groups. */
export class GroupLint {
  readonly #file: RobotsFile;
  readonly #report: Report;
  readonly #agents = new Map<string, LintedAgent>();
  /** Until there are too many of them. */
  #groups: LintedGroup[] | undefined = [];
  #related = 0;
  #last: LintedGroup | undefined;
  #count = 0;
  /** The agents of the current block. */
  #block = new Set<LintedAgent>();

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
      rules: this.#groups === undefined ? NONE : [],
      isRuled: false,
      runsOn: undefined,
    };
    this.#relate();
    this.#groups?.push(this.#last);
  }

  /** The last group goes on behind a line that its author may take for its end. */
  runOn(line: number, directive: string): void {
    this.last.runsOn ??= { line, directive, before: new Set(this.last.agents) };
  }

  startBlock(): void {
    this.#block = new Set();
  }

  /** Adds a preference of the current block. */
  addPreference(directive: UsageDirective, line: number): void {
    for (const agent of this.#block) (agent.preferences ??= {})[directive] ??= line;
  }

  /** Adds an agent named by a user-agent line of the last group. */
  addAgent(written: string, span: Span): void {
    const group = this.last;
    const name = written.toLowerCase();
    let agent = this.#agents.get(name);
    if (agent === undefined) {
      if (this.#agents.size >= MAX_AGENTS && name !== '*') return;
      const groups = this.#groups === undefined ? NONE : [];
      agent = { name, written, span, group, groups, isRuled: false, preferences: undefined };
      this.#agents.set(name, agent);
    } else if (agent.group === group) {
      group.runsOn?.before.delete(agent);
      this.#block.add(agent);
      return;
    } else this.#report.add('duplicate-group', span, { agent: written, otherLine: agent.span.line });
    agent.group = group;
    group.agents.push(agent);
    this.#block.add(agent);
    this.#relate();
    if (this.#groups !== undefined) agent.groups.push(group);
  }

  /** Adds a rule of the last group that can match something. */
  addRule(span: Span, allow: boolean): void {
    this.#relate();
    if (this.#groups !== undefined) this.last.rules.push({ ...span, allow });
  }

  #relate(): void {
    if (++this.#related > MAX_RELATED) this.#groups = undefined;
  }

  #end(): void {
    if (this.#last?.isRuled === true) for (const agent of this.#last.agents) agent.isRuled = true;
  }

  /**
   * Reports problems that are known only at the end of the file.
   *
   * @param apart The lines of preferences that stand apart from all groups.
   */
  finish(apart: ReadonlySet<number>): void {
    this.#end();
    const idle = new Set<LintedGroup>();
    // "Substring match" (robotstxt.org): rules for an agent apply to all whose names have its name as a part.
    const mayBePart = this.#file.traits.agentMatch === 'substring';
    for (const agent of this.#agents.values()) {
      if (agent.isRuled || idle.has(agent.group) || (mayBePart && agent.name !== '*')) continue;
      idle.add(agent.group);
      this.#report.add('empty-group', agent.span, { agent: agent.written });
    }
    if (this.#groups === undefined) return;
    Relations.report(this.#file, this.#report, this.#groups, [...this.#agents.values()], apart);
  }
}
