import { locate, LocatedUrl, MAX_URL_BYTES, ROBOTS_PATH, tooLong } from '../url/index.ts';
import { quote, RobotsInvalidOptionsError, show } from '../base/index.ts';
import { callerAgent } from './agent.ts';
import {
  describe,
  type Description,
  type Group,
  type MatchedGroup,
  type MatchedRule,
  nameIn,
  type OtherRecord,
  type RuleVerdict,
  type Sitemap,
  type Verdict,
} from './describe.ts';
import { type Dialect, dialects, type DialectTraits } from './dialect.ts';
import {
  compile,
  matchOnce,
  NO_RULE,
  type Ruleset,
  type Selection,
  type WrittenRule,
} from './matcher/index.ts';
import { readTarget } from './normal-form/normal-form.ts';
import { fromUtf8, utf8 } from './bytes.ts';

const located = new LocatedUrl();

/** The most agents whose compiled rules are kept. When there are more, all are dropped. */
const MAX_RULESETS = 64;

const MAX_PATTERN_BYTES = 2_000;

/** Longer patterns are not sliced from URLs: engines keep the whole URL in memory as long as its slice. */
const MAX_CUT_URL = 512;

/** The groups of most files: one line for `*`. Files share them. */
const EVERYBODY: MatchedGroup[] = [];
const MAX_SHARED = 256;

/** A robots.txt file: its bytes, and the compiled rules of the agents asked for. Made by `parseRobots`. */
export class RobotsFile {
  readonly dialect: Dialect;
  /** The bytes that are read: those given, or their UTF-8 transcoding when they were UTF-16. */
  readonly bytes: Uint8Array;
  /** @internal Whether the bytes given began with a UTF-16 byte order mark. */
  readonly utf16: boolean;
  /** @internal Grows whenever the file holds more or less memory than before. */
  changes = 0;
  /** @internal */
  readonly traits: DialectTraits;
  #asked = false;
  /** The last list of agents, and the one chosen of it: on a hostile file each name costs a pass over all lines. */
  #chosen: { readonly list: string; readonly agent: string } | undefined;
  #agent: string | undefined;
  /** @internal The compiled rules of the agent asked for last. */
  ruleset: Ruleset | undefined;
  /** @internal The compiled rules of all agents, once there are several. */
  rulesets: Map<string, Ruleset> | undefined;
  /** The compiled rules of agents that no group names. They are the same for all such agents. */
  #unnamed: Ruleset | undefined;
  /** Held weakly, because a description needs many times the memory of the file. */
  #description: WeakRef<Description> | undefined;

  /** @internal */
  constructor(bytes: Uint8Array, dialect: Dialect, utf16: boolean) {
    this.dialect = dialect;
    this.utf16 = utf16;
    this.bytes = bytes;
    this.traits = dialects[dialect];
  }

  /**
   * Decides about `target` for `agent`.
   *
   * @param target An absolute URL, or path and query starting with `/`, taken as given up to its first `#`.
   * @param agent A product token, a User-Agent string, or tokens in order of preference: the first that some
   *   group names is used. Default `*`.
   * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when `target` is neither, or has more than 65,536
   * bytes.
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when `agent` is neither a string nor a list of
   * strings.
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
    let text = target;
    let start = 0;
    let end: number;
    // The parser of URLs refuses what is no string.
    const isPath = target?.[0] === '/';
    if (isPath) end = pathEnd(target);
    else {
      locate(target, located);
      text = located.href;
      start = located.targetStart;
      end = located.targetEnd;
    }
    if (this.isRobotsTxt(text, start, end)) return { allowed: true, reason: 'robots-txt' };
    if (!this.#asked) return this.#firstVerdict(token, text, start, end);
    const ruleset = this.rulesetFor(token);
    return isPath
      ? this.verdict(ruleset, this.decide(ruleset, text, start, end))
      : this.verdict(ruleset, this.decideUrl(ruleset, located), located);
  }

  /** The verdict on the first target, without compiling rules: many files get only one question. */
  #firstVerdict(token: string, text: string, start: number, end: number): Verdict {
    this.#asked = true;
    const { bytes, traits } = this;
    const agent = callerAgent(token, traits);
    const { selection, rule } = matchOnce(bytes, agent, traits, readTarget(text, start, end, traits));
    return verdictOf(this.#describeGroup(selection, agent), rule && this.describeRule(rule));
  }

  /** The groups as written in the file, before those of one agent are merged. */
  get groups(): readonly Group[] {
    return this.#describe().groups;
  }

  /** `Sitemap` lines. They belong to no group. */
  get sitemaps(): readonly Sitemap[] {
    return this.#describe().sitemaps;
  }

  /** All other records: `Crawl-delay`, `Host`, `Clean-param`, `Visit-time` and any other line. */
  get otherRecords(): readonly OtherRecord[] {
    return this.#describe().otherRecords;
  }

  /**
   * `Crawl-delay` for `agent`, in **milliseconds**; the longest if there are several. It applies to the user-agent
   * lines directly above it ({@link OtherRecord}). Not part of RFC 9309: reported, never enforced here.
   */
  crawlDelay(agent: string | readonly string[] = '*'): number | undefined {
    const { crawlDelayMs } = this.rulesetFor(this.chooseAgent(agent));
    return crawlDelayMs < 0 ? undefined : crawlDelayMs;
  }

  /**
   * The first of several agents that some group names; the first of all if none is named.
   *
   * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for anything but strings.
   */
  chooseAgent(agent: string | readonly string[]): string {
    if (typeof agent === 'string') return agent;
    if (!Array.isArray(agent))
      throw new RobotsInvalidOptionsError(`Expected a string or a list of strings, got ${show(agent)}`);
    if (agent.length < 2) return agent[0] ?? '*';
    const list = agent.join('\n');
    if (this.#chosen?.list !== list) {
      const found = agent.find((name) => this.rulesetFor(name).scope === 'named') ?? agent[0] ?? '*';
      this.#chosen = { list, agent: found };
    }
    return this.#chosen.agent;
  }

  /**
   * The compiled rules of one agent; compiled on first use.
   *
   * @internal
   */
  rulesetFor(agent: string): Ruleset {
    if (agent === this.#agent && this.ruleset !== undefined) return this.ruleset;
    let ruleset = this.rulesets?.get(agent);
    if (ruleset === undefined) {
      ruleset = this.#compileFor(agent);
      if (this.ruleset !== undefined && this.#agent !== undefined) {
        this.rulesets ??= new Map([[this.#agent, this.ruleset]]);
        if (this.rulesets.size >= MAX_RULESETS) {
          this.rulesets.clear();
          this.#unnamed = undefined;
        }
        this.rulesets.set(agent, ruleset);
      }
      this.changes++;
    }
    this.#agent = agent;
    this.ruleset = ruleset;
    return ruleset;
  }

  #compileFor(agent: string): Ruleset {
    const { bytes, traits } = this;
    const caller = callerAgent(agent, traits);
    const ruleset = compile(bytes, caller, traits, (selection) => this.#describeGroup(selection, caller));
    return ruleset.scope === 'named' ? ruleset : (this.#unnamed ??= ruleset);
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
   * Like {@link decide}, for a located URL. Most URLs need no further parsing.
   *
   * @internal
   */
  decideUrl(ruleset: Ruleset, located: LocatedUrl): number {
    const { targetStart, targetEnd, byteMask } = located;
    const bytes = this.traits.targetHasQuery ? located.bytes : undefined;
    return bytes === undefined
      ? this.decide(ruleset, located.href, targetStart, targetEnd)
      : ruleset.decide(bytes, targetStart, targetEnd, byteMask);
  }

  /**
   * Number of the rule that decides the target `text[start, end)`; `NO_RULE` if none. Allocates nothing.
   *
   * @internal
   */
  decide(ruleset: Ruleset, text: string, start: number, end: number): number {
    const { bytes, length, byteMask } = readTarget(text, start, end, this.traits);
    return ruleset.decide(bytes, 0, length, byteMask);
  }

  /**
   * The verdict for the result of {@link decide}, or of {@link decideUrl} for `located`.
   *
   * @internal
   */
  verdict(ruleset: Ruleset, rule: number, located?: LocatedUrl): RuleVerdict {
    return verdictOf(ruleset.group, rule === NO_RULE ? undefined : this.ruleOf(ruleset, rule, located));
  }

  #describeGroup(
    { agentLines: lines, omitted, nameStart, nameEnd, scope }: Selection,
    agent: Uint8Array,
  ): MatchedGroup | undefined {
    if (scope === 'none') return undefined;
    const line = lines[0]!;
    if (scope === 'all' && lines.length === 1 && line < MAX_SHARED) {
      return (EVERYBODY[line] ??= Object.freeze({ agent: '*', lines: Object.freeze(lines) }));
    }
    const name = scope === 'all' ? '*' : nameIn(this.bytes.subarray(nameStart, nameEnd), agent, this.traits);
    return omitted === 0 ? { agent: name, lines } : { agent: name, lines, omitted };
  }

  /**
   * The description of a rule.
   *
   * @param located The URL that it matches, if the target is one.
   * @internal
   */
  ruleOf(ruleset: Ruleset, rule: number, located?: LocatedUrl): MatchedRule {
    const described =
      located?.simple === true && located.href.length <= MAX_CUT_URL
        ? ruleset.describeIn(rule, located.href, located.targetStart)
        : undefined;
    return described ?? this.describeRule(ruleset.ruleAt(rule));
  }

  /** @internal */
  describeRule({ allow, offset, writtenLength, line }: WrittenRule): MatchedRule {
    return {
      directive: allow ? 'allow' : 'disallow',
      pattern: fromUtf8.decode(
        this.bytes.subarray(offset, offset + Math.min(writtenLength, MAX_PATTERN_BYTES)),
      ),
      line,
    };
  }

  #describe(): Description {
    let description = this.#description?.deref();
    if (description === undefined) {
      description = describe(this.bytes, this.traits);
      this.#description = new WeakRef(description);
    }
    return description;
  }
}

function verdictOf(group: MatchedGroup | undefined, rule: MatchedRule | undefined): RuleVerdict {
  if (group === undefined) return { allowed: true, reason: 'no-group' };
  if (rule === undefined) return { allowed: true, reason: 'no-rule', group };
  return { allowed: rule.directive === 'allow', reason: 'rule', rule, group };
}

/** @throws RobotsInvalidOptionsError for anything but a file of `parseRobots`. */
export function assertRobotsFile(file: unknown, caller: string): void {
  // Not `instanceof`: it may be a file of another copy of the package.
  if (typeof file === 'object' && file !== null && 'bytes' in file && 'traits' in file) return;
  throw new RobotsInvalidOptionsError(
    `Expected \`${caller}\` to get a file that \`parseRobots\` made, got ${show(file)}`,
  );
}

/**
 * The end of a path target. A fragment is not part of it.
 *
 * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when it has more bytes than a URL may have.
 */
export function pathEnd(target: string): number {
  const fragment = target.indexOf('#');
  const end = fragment < 0 ? target.length : fragment;
  // A unit of the string has at most three bytes.
  if (end * 3 > MAX_URL_BYTES && utf8.encode(target.slice(0, end)).length > MAX_URL_BYTES) {
    throw tooLong(target, 'path');
  }
  return end;
}

export interface ParseOptions {
  /** The dialect in which the file is read. Default `'rfc9309'`. */
  readonly dialect?: Dialect;
}

/**
 * Reads a robots.txt file. All bytes are accepted: unreadable lines are skipped, as RFC 9309 §2.3.1.5 asks
 * ("crawlers MUST try to parse each line … MUST use the parseable rules").
 *
 * Pass bytes rather than a string if possible: invalid UTF-8 is then compared as it was served. The bytes are kept,
 * not copied, so do not change them afterwards.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an unknown dialect or a body that is neither
 * bytes nor a string.
 *
 * @example
 * ```ts
 * import { parseRobots } from 'canfetch/rules';
 *
 * const file = parseRobots('User-agent: *\nAllow: /p\nDisallow: /');
 * file.check('/page', 'ExampleBot'); // { allowed: true, reason: 'rule', rule: { directive: 'allow', … }, … }
 * ```
 */
export function parseRobots(body: Uint8Array | string, options: ParseOptions = {}): RobotsFile {
  if (typeof options !== 'object' || options === null)
    throw new RobotsInvalidOptionsError(`Expected the options to be an object, got ${show(options)}`);
  const dialect = options.dialect ?? 'rfc9309';
  if (!Object.hasOwn(dialects, dialect)) {
    throw new RobotsInvalidOptionsError(
      `Expected \`dialect\` to be one of ${Object.keys(dialects).join(', ')}, got ${quote(dialect)}`,
    );
  }
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new RobotsInvalidOptionsError(`Expected a string or a Uint8Array, got ${show(body)}`);
  }
  const bytes = typeof body === 'string' ? utf8.encode(body) : body;
  const utf16 = utf16Of(bytes);
  return utf16 !== undefined && dialects[dialect].transcodesUtf16
    ? new RobotsFile(utf8.encode(new TextDecoder(utf16).decode(bytes)), dialect, true)
    : new RobotsFile(bytes, dialect, utf16 !== undefined);
}

/** The encoding of a UTF-16 byte order mark. The body is transcoded, and the mark dropped. */
function utf16Of([first = 0, second = 0]: Uint8Array): string | undefined {
  const mark = (first << 8) | second;
  return mark === 0xfffe ? 'utf-16le' : mark === 0xfeff ? 'utf-16be' : undefined;
}
