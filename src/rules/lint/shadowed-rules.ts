import type { DialectTraits } from '../dialect.ts';
import { DOLLAR } from '../octets.ts';
import { NormalForm } from '../matcher/normal-form.ts';
import { PatternFacts, readPattern } from '../matcher/pattern.ts';
import type { Span } from './report.ts';

/** The properties of a rule that decide whether another one shadows it. */
export interface RankedRule extends Span {
  readonly allow: boolean;
  /** Octets that count for precedence. More octets are more specific. */
  readonly priority: number;
  /** Equal for two rules only if they match the same targets. */
  readonly reach: string;
  /** The common prefix of all targets that it matches, in normal form. */
  readonly prefix: string;
  /** Whether it matches every target with that prefix. */
  readonly wholePrefix: boolean;
}

const facts = new PatternFacts();
const forms = new NormalForm();
/** Decodes each octet to one character, so that strings compare as octets do. */
const oneByOne = new TextDecoder('latin1');

export function asCharacters(octets: Uint8Array): string {
  return oneByOne.decode(octets);
}

/** The rule whose pattern is at `span` of `bytes`. `characters` is the same text. */
export function rankedRule(
  bytes: Uint8Array,
  characters: string,
  span: Span,
  allow: boolean,
  traits: DialectTraits,
): RankedRule {
  const { line, column, start, end } = span;
  forms.length = 0;
  readPattern(bytes, start, end, traits, facts, forms);
  const { anchored, inPlace, literalLength, priority, wild } = facts;
  const last = traits.wildcards && bytes[end - 1] === DOLLAR ? end - 1 : end;
  let text = inPlace ? characters.slice(start, last) : asCharacters(forms.octets.subarray(0, forms.length));
  // `/a**b*` matches the same targets as `/a*b`; a trailing `*` makes an anchor ineffective.
  if (wild || literalLength < text.length) text = text.replaceAll(/\*+/g, '*').replace(/\*$/, '');
  return {
    ...{ line, column, start, end, allow, priority },
    reach: anchored ? `$${text}` : text,
    prefix: wild ? text.slice(0, literalLength) : text,
    wholePrefix: !wild && !anchored,
  };
}

/** Whether `rule` wins when both match: by "the most octets", then allow, then file order. */
export function beats(rule: RankedRule, other: RankedRule, { decides }: DialectTraits): boolean {
  if (decides === 'longest') {
    if (rule.priority !== other.priority) return rule.priority > other.priority;
    if (rule.allow !== other.allow) return rule.allow;
  }
  return rule.line < other.line;
}

/**
 * Calls `report` for each rule of a merged group that can never decide, because one other rule matches all of its
 * targets and wins. A rule is compared with all rules of the same reach, and with those that match a whole prefix of
 * it. Some shadowed rules are not found, but none is reported wrongly.
 *
 * Rules are sorted, and prefixes of each other kept on a stack, so that the time is linear in their octets.
 */
export function findShadowed(
  rules: readonly RankedRule[],
  traits: DialectTraits,
  report: (rule: RankedRule, winner: RankedRule) => void,
): void {
  if (rules.length < 2) return;
  const best = new Map<string, RankedRule>();
  for (const rule of rules) {
    const other = best.get(rule.reach);
    if (other === undefined || beats(rule, other, traits)) best.set(rule.reach, rule);
  }
  /** Each entry has the strongest rule of the stack up to it. */
  const stack: { readonly prefix: string; readonly best: RankedRule }[] = [];
  for (const rule of [...rules].sort(byPrefix)) {
    while (stack.length > 0 && !rule.prefix.startsWith(stack.at(-1)!.prefix)) stack.pop();
    const above = stack.at(-1)?.best;
    const same = best.get(rule.reach)!;
    const winner = above !== undefined && beats(above, same, traits) ? above : same;
    // google/robotstxt also allows the directory; such a rule may still decide for that.
    const hasDirectory = traits.indexHtmlAllowsDirectory && rule.allow && rule.reach.includes('/index.htm');
    if (winner !== rule && !hasDirectory) report(rule, winner);
    if (rule.wholePrefix) stack.push({ prefix: rule.prefix, best: winner });
  }
}

/** Orders rules that match a whole prefix before other rules with that prefix. */
function byPrefix(a: RankedRule, b: RankedRule): number {
  if (a.prefix !== b.prefix) return a.prefix < b.prefix ? -1 : 1;
  return Number(b.wholePrefix) - Number(a.wholePrefix);
}
