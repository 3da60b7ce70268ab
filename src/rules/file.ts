import { locate, LocatedUrl, ROBOTS_PATH, targetOf } from '../url/index.ts';
import { callerAgent, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import {
  type Description,
  describe,
  type Group,
  linesNaming,
  type OtherRecord,
  type Sitemap,
} from './describe.ts';
import { type Dialect, type DialectTraits, dialects } from './dialect.ts';
import { compile, compileAll } from './matcher/compile.ts';
import { NO_RULE, type Ruleset } from './matcher/ruleset.ts';
import { findGroups } from './matcher/select.ts';
import { readTarget } from './matcher/target.ts';
import { fromUtf8 } from './octets.ts';
import type { Explanation, MatchedGroup, MatchedRule, RuleVerdict, Verdict } from './verdict.ts';

const located = new LocatedUrl();

/** Agents a file was asked for keep their compiled rules, up to this many; then all start anew. */
const MAX_RULESETS = 64;

/** An answer about one URL is bounded, whatever the file holds. */
const MAX_LINES = 100;
const MAX_PATTERN_OCTETS = 2_000;

/**
 * A robots.txt file: its octets, and what was compiled of them for the agents that asked. Made by `parseRobots`.
 */
export class RobotsFile {
  readonly dialect: Dialect;
  /** The octets that are read: those given, or their transcoding when they were UTF-16. */
  readonly bytes: Uint8Array;
  /** @internal What was given began with a UTF-16 byte order mark. */
  readonly utf16: boolean;
  private readonly traits: DialectTraits;
  private readonly groupStarts: Int32Array;
  private agent: string | undefined;
  private ruleset: Ruleset | undefined;
  private rulesets: Map<string, Ruleset> | undefined;
  private description: Description | undefined;

  /** @internal */
  constructor(bytes: Uint8Array, dialect: Dialect, utf16: boolean) {
    this.dialect = dialect;
    this.utf16 = utf16;
    this.bytes = bytes;
    this.traits = dialects[dialect];
    this.groupStarts = findGroups(bytes, this.traits);
  }

  /**
   * What the file says about `target` for `agent`.
   *
   * @param target An absolute URL, or path and query starting with `/`, taken as given up to its first `#`.
   * @param agent A product token, a User-Agent string, or tokens in order of preference: the first that some
   *   group names is used. Default `*`.
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when `target` is neither.
   *
   * @example
   * ```ts
   * const file = parseRobots('User-agent: *\nDisallow: /private');
   * file.check('/private/a', 'ExampleBot').allowed; // false
   * file.check('https://example.com/', 'ExampleBot').reason; // 'no-rule'
   * ```
   */
  check(target: string, agent: string | readonly string[] = '*'): Verdict {
    const token = this.chooseAgent(agent);
    const ruleset = this.rulesetFor(token);
    if (target.startsWith('/')) {
      const end = pathEnd(target);
      if (this.isRobotsTxt(target, 0, end)) return { allowed: true, reason: 'robots-txt' };
      return this.verdict(ruleset, token, this.decide(ruleset, target, 0, end));
    }
    locate(target, located);
    if (this.isRobotsTxt(located.href, located.targetStart, located.targetEnd)) {
      return { allowed: true, reason: 'robots-txt' };
    }
    return this.verdict(ruleset, token, this.decideUrl(ruleset, located));
  }

  /**
   * {@link check}, with the rule that came closest to deciding and why it lost. Takes time in proportion to the
   * rules of the agent: for showing, not for deciding.
   */
  explain(target: string, agent: string | readonly string[] = '*'): Explanation {
    const verdict = this.check(target, agent);
    if (verdict.reason !== 'rule') return { verdict };
    const token = callerAgent(this.chooseAgent(agent), this.traits);
    const ruleset = compileAll(this.bytes, this.groupStarts, token, this.traits);
    const text = target.startsWith('/') ? target : targetOf(target);
    const { octets, length } = readTarget(text, 0, pathEnd(text), this.traits);
    const matching = ruleset.matches(octets, 0, length);
    // A rule stands for its line: what was derived from the winner's is no rival of it.
    const [winner, ...others] = matching;
    const rival = others.find(
      (rule) => winner !== undefined && ruleset.offsetOf(rule) !== ruleset.offsetOf(winner),
    );
    if (winner === undefined || rival === undefined) return { verdict };
    const shorter = ruleset.priorityOf(rival) < ruleset.priorityOf(winner);
    const lost = this.traits.decides === 'first' ? 'later' : shorter ? 'shorter' : 'tie';
    return { verdict, runnerUp: { rule: this.ruleOf(ruleset, rival), lost } };
  }

  /** Groups as they stand in the file, before those of one agent are merged. */
  get groups(): readonly Group[] {
    return this.describe().groups;
  }

  /** `Sitemap` lines. They belong to no group. */
  get sitemaps(): readonly Sitemap[] {
    return this.describe().sitemaps;
  }

  /** All other records: `Crawl-delay`, `Host`, `Clean-param`, `Visit-time`, whatever stands in the file. */
  get otherRecords(): readonly OtherRecord[] {
    return this.describe().otherRecords;
  }

  /**
   * `Crawl-delay` for `agent`, in **milliseconds**; the longest if there are several. It counts for the user-agent
   * lines directly above it ({@link OtherRecord}). Not part of RFC 9309: reported, never enforced here.
   */
  crawlDelay(agent: string | readonly string[] = '*'): number | undefined {
    const { crawlDelayMs } = this.rulesetFor(this.chooseAgent(agent));
    return crawlDelayMs < 0 ? undefined : crawlDelayMs;
  }

  /** Of several agents the first that some group names; the first of all if none is named. */
  chooseAgent(agent: string | readonly string[]): string {
    if (typeof agent === 'string') return agent;
    return agent.find((name) => this.rulesetFor(name).scope === 'named') ?? agent[0] ?? '*';
  }

  /**
   * The compiled rules of one agent; compiled on first use.
   *
   * @internal
   */
  rulesetFor(agent: string): Ruleset {
    if (agent === this.agent && this.ruleset !== undefined) return this.ruleset;
    let ruleset = this.rulesets?.get(agent);
    if (ruleset === undefined) {
      ruleset = compile(this.bytes, this.groupStarts, callerAgent(agent, this.traits), this.traits);
      if (this.ruleset !== undefined && this.agent !== undefined) {
        this.rulesets ??= new Map([[this.agent, this.ruleset]]);
        if (this.rulesets.size >= MAX_RULESETS) this.rulesets.clear();
        this.rulesets.set(agent, ruleset);
      }
    }
    this.agent = agent;
    this.ruleset = ruleset;
    return ruleset;
  }

  /**
   * "The /robots.txt URI is implicitly allowed" (RFC 9309 §2.2.2).
   *
   * @internal
   */
  isRobotsTxt(text: string, start: number, end: number): boolean {
    return (
      this.traits.robotsTxtAlwaysAllowed &&
      end - start === ROBOTS_PATH.length &&
      text.startsWith(ROBOTS_PATH, start)
    );
  }

  /**
   * {@link decide} for a URL taken apart: most need no reading any more.
   *
   * @internal
   */
  decideUrl(ruleset: Ruleset, located: LocatedUrl): number {
    const { targetStart, targetEnd, byteMask } = located;
    const octets = this.traits.targetHasQuery ? located.octets : undefined;
    return octets === undefined
      ? this.decide(ruleset, located.href, targetStart, targetEnd)
      : ruleset.decide(octets, targetStart, targetEnd, byteMask);
  }

  /**
   * Number of the rule that decides the target `text[start, end)`; `NO_RULE` if none. Allocates nothing.
   *
   * @internal
   */
  decide(ruleset: Ruleset, text: string, start: number, end: number): number {
    const { octets, length, byteMask } = readTarget(text, start, end, this.traits);
    return ruleset.decide(octets, 0, length, byteMask);
  }

  /**
   * The verdict that `rule` (of {@link decide}) gives.
   *
   * @internal
   */
  verdict(ruleset: Ruleset, agent: string, rule: number): RuleVerdict {
    const group = this.groupOf(ruleset, agent);
    if (group === undefined) return { allowed: true, reason: 'no-group' };
    if (rule === NO_RULE) return { allowed: true, reason: 'no-rule', group };
    return { allowed: ruleset.isAllow(rule), reason: 'rule', rule: this.ruleOf(ruleset, rule), group };
  }

  /** @internal */
  groupOf(ruleset: Ruleset, agent: string): MatchedGroup | undefined {
    if (ruleset.scope === 'none') return undefined;
    return (ruleset.group ??= linesNaming(
      this.bytes,
      callerAgent(agent, this.traits),
      ruleset.scope === 'named' ? NAMES_AGENT : NAMES_ALL,
      this.traits,
      MAX_LINES,
    ));
  }

  /** @internal */
  ruleOf(ruleset: Ruleset, rule: number): MatchedRule {
    return ruleset.explained[rule] ?? this.explainRule(ruleset, rule);
  }

  private explainRule(ruleset: Ruleset, rule: number): MatchedRule {
    const offset = ruleset.offsetOf(rule);
    const length = Math.min(ruleset.writtenLengthOf(rule), MAX_PATTERN_OCTETS);
    const written = this.bytes.subarray(offset, offset + length);
    return ruleset.keepExplained(rule, {
      directive: ruleset.isAllow(rule) ? 'allow' : 'disallow',
      pattern: fromUtf8.decode(written),
      line: lineAt(this.bytes, offset),
    });
  }

  private describe(): Description {
    return (this.description ??= describe(this.bytes, this.traits));
  }
}

/** Where a target ends: a fragment is no part of it. */
function pathEnd(target: string): number {
  const fragment = target.indexOf('#');
  return fragment < 0 ? target.length : fragment;
}

/** 1-based line of an offset; lines end at LF, CR or CRLF. */
function lineAt(bytes: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = 0; at < offset; at++) {
    if (bytes[at] === 0x0a || (bytes[at] === 0x0d && bytes[at + 1] !== 0x0a)) line++;
  }
  return line;
}
