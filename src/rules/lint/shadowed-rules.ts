import type { DialectTraits } from '../dialect.ts';
import { DOLLAR } from '../octets.ts';
import { NormalForm } from '../matcher/normal-form.ts';
import { PatternFacts, readPattern } from '../matcher/pattern.ts';
import type { Span } from './report.ts';

/** A rule, as far as it can be held against another. */
export interface RankedRule extends Span {
  readonly allow: boolean;
  /** Octets that count: the more, the more specific. */
  readonly priority: number;
  /** The same for two rules only if they match the same targets. */
  readonly reach: string;
  /** What every target it matches starts with, in normal form. */
  readonly prefix: string;
  /** It matches every target that starts so. */
  readonly wholePrefix: boolean;
}

const facts = new PatternFacts();
const forms = new NormalForm();
/** A character for each octet, so that strings compare as octets do. */
const oneByOne = new TextDecoder('latin1');

export function asCharacters(octets: Uint8Array): string {
  return oneByOne.decode(octets);
}

/** The rule whose pattern stands at `span` of `bytes`, which are `characters` too. */
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
  // `/a**b*` matches what `/a*b` matches, and a trailing `*` makes the anchor void.
  if (wild || literalLength < text.length) text = text.replaceAll(/\*+/g, '*').replace(/\*$/, '');
  return {
    ...{ line, column, start, end, allow, priority },
    reach: anchored ? `$${text}` : text,
    prefix: wild ? text.slice(0, literalLength) : text,
    wholePrefix: !wild && !anchored,
  };
}

/** Whether `rule` decides where both match: by "the most octets", allow at a tie, then file order. */
export function beats(rule: RankedRule, other: RankedRule, { decides }: DialectTraits): boolean {
  if (decides === 'longest') {
    if (rule.priority !== other.priority) return rule.priority > other.priority;
    if (rule.allow !== other.allow) return rule.allow;
  }
  return rule.line < other.line;
}

/**
 * Calls `report` for each rule of a merged group that can decide nothing, because one other rule matches whatever
 * it matches and wins. Each is held against all rules with the same reach, and against all that match a whole
 * prefix of it: others may never decide either, but none is reported wrongly.
 *
 * The rules are sorted, those whose prefixes start each other on a stack, so that time grows with their octets.
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
  /** Each with the best of all down to it. */
  const stack: { readonly prefix: string; readonly best: RankedRule }[] = [];
  for (const rule of [...rules].sort(byPrefix)) {
    while (stack.length > 0 && !rule.prefix.startsWith(stack.at(-1)!.prefix)) stack.pop();
    const above = stack.at(-1)?.best;
    const same = best.get(rule.reach)!;
    const winner = above !== undefined && beats(above, same, traits) ? above : same;
    // A directory that google/robotstxt allows besides may be all that such a rule decides.
    const hasDirectory = traits.indexHtmlAllowsDirectory && rule.allow && rule.reach.includes('/index.htm');
    if (winner !== rule && !hasDirectory) report(rule, winner);
    if (rule.wholePrefix) stack.push({ prefix: rule.prefix, best: winner });
  }
}

/** Those that match a whole prefix before the others that have it. */
function byPrefix(a: RankedRule, b: RankedRule): number {
  if (a.prefix !== b.prefix) return a.prefix < b.prefix ? -1 : 1;
  return Number(b.wholePrefix) - Number(a.wholePrefix);
}
