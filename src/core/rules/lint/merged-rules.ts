import { asCharacters, escapeBytes, fromCharacters } from '../bytes.ts';
import { RobotsFile } from '../file.ts';
import { NO_RULE } from '../matcher/index.ts';
import type { Span } from './diagnostic.ts';

/** A rule that can match something. */
export interface LintedRule extends Span {
  readonly allow: boolean;
}

/** Longer patterns are left out. */
const MAX_PATTERN_BYTES = 200;
/** Bounds the time: each pattern is compared with all wild ones. */
const MAX_COMPARED_BYTES = 20_000_000;
/** Rules of the group that the matcher is asked about start on this line. */
const FIRST_RULE_LINE = 2;

/**
 * The rules that apply to the same agents, merged, and what the matcher decides by them.
 *
 * It is asked about one target for each rule: its pattern with a character that no pattern has in place of each `*`, and
 * at the end. A rule that matches this target matches that character by a wildcard, so it matches every target of the
 * pattern.
 */
export class MergedRules {
  readonly rules: readonly LintedRule[];
  /** Whether few enough rules are wild to ask about all, and all rules are here. */
  readonly isAsked: boolean;
  readonly isWhole: boolean;
  readonly #patterns: Patterns;
  readonly #group: RobotsFile;

  /** @param rules In file order. None is asked about when there were too many questions before. */
  constructor(patterns: Patterns, rules: readonly LintedRule[], isTooMuch: boolean) {
    this.#patterns = patterns;
    this.rules = isTooMuch ? [] : rules.filter(({ start, end }) => end - start <= MAX_PATTERN_BYTES);
    const lines = this.rules.map((rule) => `${rule.allow ? 'Allow' : 'Disallow'}: ${patterns.of(rule)}`);
    const { dialect } = patterns.file;
    this.#group = new RobotsFile(fromCharacters(['User-agent: *', ...lines].join('\n')), dialect, false);
    const wildBytes = lines.reduce((sum, each) => sum + (each.includes('*') ? each.length : 0), 0);
    this.isAsked = wildBytes * lines.length <= MAX_COMPARED_BYTES;
    this.isWhole = this.isAsked && this.rules.length === rules.length;
  }

  /** The rule that decides a target. */
  deciding(target: string): LintedRule | undefined {
    const ruleset = this.#group.rulesetFor('*');
    const rule = this.#group.decide(ruleset, target, 0, target.length);
    return rule === NO_RULE ? undefined : this.rules[ruleset.ruleAt(rule).line - FIRST_RULE_LINE];
  }

  /** The rule that decides all targets of a rule; `undefined` where it may be one or another. */
  decidingAllOf(rule: LintedRule): LintedRule | undefined {
    // google/robotstxt also allows the directory of such a rule; the rule may still decide for that.
    if (rule.allow && this.#patterns.allowsDirectory(rule)) return undefined;
    const [winner, ...others] = this.#patterns.targetsOf(rule).map((target) => this.deciding(target));
    return others.every((other) => other === winner) ? winner : undefined;
  }
}

/** The patterns of a file, and targets that stand for all that one of them matches. */
export class Patterns {
  readonly file: RobotsFile;
  /** What stands for any characters. */
  readonly #filling: string;

  private constructor(file: RobotsFile, filling: string) {
    this.file = file;
    this.#filling = filling;
  }

  /** `undefined` when the rules use every character. */
  static of(file: RobotsFile, rules: readonly LintedRule[]): Patterns | undefined {
    const text = rules.map(({ start, end }) => asCharacters(file.bytes.subarray(start, end))).join('\n');
    const lower = text.toLowerCase();
    const filling = FILLINGS.find((each) => !text.includes(each) && !lower.includes(escapeOf(each)));
    return filling === undefined ? undefined : new Patterns(file, filling);
  }

  /** The bytes of a pattern, as characters. */
  of({ start, end }: LintedRule): string {
    return asCharacters(this.file.bytes.subarray(start, end));
  }

  allowsDirectory(rule: LintedRule): boolean {
    return this.file.traits.indexHtmlAllowsDirectory && this.of(rule).includes('/index.htm');
  }

  /** Whether a rule is about all paths: `/`, or stars alone. */
  isForAll(rule: LintedRule): boolean {
    const pattern = this.of(rule);
    return this.file.traits.wildcards ? /^(?:\/|\/?\*+\$?)$/.test(pattern) : pattern === '/';
  }

  /** A target that only rules about all paths match. */
  get anywhere(): string {
    return `/${this.#filling}`;
  }

  /** The targets that stand for all of a pattern: where it starts with `*`, that may also stand for nothing. */
  targetsOf(rule: LintedRule): readonly string[] {
    const { wildcards, targetHasQuery } = this.file.traits;
    const pattern = this.of(rule);
    const anchored = wildcards && pattern.endsWith('$');
    let target = anchored ? pattern.slice(0, -1) : pattern;
    if (wildcards) target = target.replaceAll(/\*+/g, this.#filling);
    if (!targetHasQuery) target = target.replaceAll('?', '%3F');
    target = escaped(anchored ? target : target + this.#filling);
    if (target.startsWith('/')) return [target];
    return target.startsWith(`${this.#filling}/`) ? [`/${target}`, target.slice(1)] : [`/${target}`];
  }
}

/** Characters of targets that are their own normal form, and no hexadecimal digits. */
const FILLINGS: readonly string[] = [...'~!;+GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz'];

const escapeOf = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** A target for a pattern of bytes as characters, as google/robotstxt spells patterns. The other dialects normalise it. */
function escaped(pattern: string): string {
  return escapeBytes(pattern).replaceAll(/%[0-9a-f]{2}/gi, (piece) => piece.toUpperCase());
}
