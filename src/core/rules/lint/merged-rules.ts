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
  readonly #bytes: Uint8Array;
  readonly #traits: RobotsFile['traits'];
  readonly #filling: string;
  readonly #rules: readonly LintedRule[];
  readonly #group: RobotsFile;
  /** Whether there are too many wild patterns to ask about all. */
  readonly isTooWild: boolean;

  /** @param filling A character that no pattern has: {@link unusedCharacter}. */
  constructor({ bytes, dialect, traits }: RobotsFile, rules: readonly LintedRule[], filling: string) {
    this.#bytes = bytes;
    this.#traits = traits;
    this.#filling = filling;
    this.#rules = rules.filter(({ start, end }) => end - start <= MAX_PATTERN_BYTES);
    const patterns = this.#rules.map((rule) => this.#patternOf(rule));
    const lines = patterns.map((each, at) => `${this.#rules[at]!.allow ? 'Allow' : 'Disallow'}: ${each}`);
    this.#group = new RobotsFile(fromCharacters(['User-agent: *', ...lines].join('\n')), dialect, false);
    const wildBytes = patterns.reduce((sum, each) => sum + (each.includes('*') ? each.length : 0), 0);
    this.isTooWild = wildBytes * lines.length > MAX_COMPARED_BYTES;
  }

  /** Each rule that can never decide, with the one that matches all of its targets and wins. None is wrong. */
  *shadowed(): Generator<{ readonly rule: LintedRule; readonly winner: LintedRule }> {
    if (this.isTooWild || this.#rules.length < 2) return;
    for (const rule of this.#rules) {
      // google/robotstxt also allows the directory of such a rule; the rule may still decide for that.
      const hasDirectory = this.#traits.indexHtmlAllowsDirectory && rule.allow;
      if (hasDirectory && this.#patternOf(rule).includes('/index.htm')) continue;
      const [winner, ...others] = this.targetsOf(rule).map((target) => this.deciding(target));
      if (winner === undefined || winner === rule || others.some((other) => other !== winner)) continue;
      yield { rule, winner };
    }
  }

  /** The targets that stand for all of a pattern: where it starts with `*`, that may also stand for nothing. */
  targetsOf(rule: LintedRule): readonly string[] {
    const { wildcards, targetHasQuery } = this.#traits;
    const pattern = this.#patternOf(rule);
    const anchored = wildcards && pattern.endsWith('$');
    let target = anchored ? pattern.slice(0, -1) : pattern;
    if (wildcards) target = target.replaceAll(/\*+/g, this.#filling);
    if (!targetHasQuery) target = target.replaceAll('?', '%3F');
    target = escaped(anchored ? target : target + this.#filling);
    if (target.startsWith('/')) return [target];
    return target.startsWith(`${this.#filling}/`) ? [`/${target}`, target.slice(1)] : [`/${target}`];
  }

  /** The rule that decides a target. */
  deciding(target: string): LintedRule | undefined {
    const ruleset = this.#group.rulesetFor('*');
    const rule = this.#group.decide(ruleset, target, 0, target.length);
    return rule === NO_RULE ? undefined : this.#rules[ruleset.ruleAt(rule).line - FIRST_RULE_LINE];
  }

  #patternOf({ start, end }: LintedRule): string {
    return asCharacters(this.#bytes.subarray(start, end));
  }
}

/** A character of targets, its own normal form and no hexadecimal digit, that is not in `text`, nor its escape. */
export function unusedCharacter(text: string): string | undefined {
  const lower = text.toLowerCase();
  return [...'~!;+GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz'].find(
    (character) => !text.includes(character) && !lower.includes(escapeOf(character)),
  );
}

const escapeOf = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** A target for a pattern of bytes as characters, as google/robotstxt spells patterns. The other dialects normalise it. */
function escaped(pattern: string): string {
  return escapeBytes(pattern).replaceAll(/%[0-9a-f]{2}/gi, (piece) => piece.toUpperCase());
}
