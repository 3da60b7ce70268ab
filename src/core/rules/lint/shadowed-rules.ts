import { asCharacters } from '../bytes.ts';
import { RobotsFile } from '../file.ts';
import { NO_RULE } from '../matcher/index.ts';
import type { Span } from './diagnostic.ts';

/** A rule that can match something. */
export interface LintedRule extends Span {
  readonly allow: boolean;
}

/** Bounds the time: each pattern is compared with all wild ones. */
const MAX_PATTERN_BYTES = 200;
const MAX_COMPARED_BYTES = 20_000_000;
/** Rules of the group that the matcher is asked about start on this line. */
const FIRST_RULE_LINE = 2;

/**
 * Calls `report` for each of `rules`, those of one merged group, that can never decide, because another one matches all of
 * its targets and wins.
 *
 * The matcher is asked about one target for each rule: its pattern with a character that no pattern has in place of each
 * `*`, and at the end. A rule that matches this target matches that character by a wildcard, so it matches every target
 * of the pattern. None is reported wrongly; long patterns are left out.
 */
export function findShadowed(
  { bytes, dialect, traits }: RobotsFile,
  rules: readonly LintedRule[],
  report: (rule: LintedRule, winner: LintedRule) => void,
): void {
  const compared = rules.filter(({ start, end }) => end - start <= MAX_PATTERN_BYTES);
  const patterns = compared.map(({ start, end }) => asCharacters(bytes.subarray(start, end)));
  const lines = compared.map(({ allow }, index) => `${allow ? 'Allow' : 'Disallow'}: ${patterns[index]}`);
  const filling = unusedCharacter(patterns.join());
  const wildBytes = patterns.reduce((sum, each) => sum + (each.includes('*') ? each.length : 0), 0);
  if (lines.length < 2 || filling === undefined || wildBytes * lines.length > MAX_COMPARED_BYTES) return;
  const group = new RobotsFile(fromCharacters(['User-agent: *', ...lines].join('\n')), dialect, false);
  const ruleset = group.rulesetFor('*');
  const deciding = (target: string): LintedRule | undefined => {
    const rule = group.decide(ruleset, target, 0, target.length);
    return rule === NO_RULE ? undefined : compared[ruleset.ruleAt(rule).line - FIRST_RULE_LINE];
  };
  patterns.forEach((pattern, index) => {
    const rule = compared[index]!;
    // google/robotstxt also allows the directory of such a rule; the rule may still decide for that.
    if (traits.indexHtmlAllowsDirectory && rule.allow && pattern.includes('/index.htm')) return;
    const anchored = traits.wildcards && pattern.endsWith('$');
    let target = anchored ? pattern.slice(0, -1) : pattern;
    if (traits.wildcards) target = target.replaceAll(/\*+/g, filling);
    if (!traits.targetHasQuery) target = target.replaceAll('?', '%3F');
    target = escaped(anchored ? target : target + filling);
    const winner = deciding(target.startsWith('/') ? target : `/${target}`);
    if (winner === undefined || winner === rule) return;
    // The first `*` may stand for nothing.
    if (target.startsWith(`${filling}/`) && deciding(target.slice(1)) !== winner) return;
    report(rule, winner);
  });
}

/** A character of targets, its own normal form and no hexadecimal digit, that is not in `text`, nor its escape. */
function unusedCharacter(text: string): string | undefined {
  return [...'~!;+GHIJKLMNOPQRSTUVWXYZghijklmnopqrstuvwxyz'].find(
    (character) => !text.includes(character) && !text.toLowerCase().includes(escapeOf(character)),
  );
}

const escapeOf = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** A target for a pattern of bytes as characters, as google/robotstxt spells patterns. The other dialects normalise it. */
function escaped(pattern: string): string {
  return pattern.replaceAll(/%[0-9a-f]{2}|[\u0080-\u00ff]/gi, (piece) =>
    (piece.length === 1 ? escapeOf(piece) : piece).toUpperCase(),
  );
}

function fromCharacters(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
