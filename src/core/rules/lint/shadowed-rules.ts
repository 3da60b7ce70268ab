import type { DialectTraits } from '../dialect.ts';
import { asCharacters, STAR } from '../bytes.ts';
import { Pattern } from '../normal-form/pattern.ts';
import type { Span } from './diagnostic.ts';

/** The properties of a rule that decide whether another one shadows it. */
export interface RankedRule extends Span {
  readonly allow: boolean;
  /** Bytes that count for precedence. More bytes are more specific. */
  readonly priority: number;
  /** The bytes that hold its normal form, and where it starts there. */
  readonly bytes: Uint8Array;
  readonly from: number;
  /** The length of its normal form. Two rules match the same targets if this, the anchor and the bytes are equal. */
  readonly length: number;
  readonly anchored: boolean;
  /** The length of the common prefix of all targets that it matches. */
  readonly prefixLength: number;
  /** Whether it matches every target with that prefix. */
  readonly wholePrefix: boolean;
  /** Bytes 1 to 6 of that prefix as one number: it tells most rules apart. */
  readonly head: number;
}

const HEAD_BYTES = 6;

const pattern = new Pattern();

/** The rule whose pattern is at `span` of `fileBytes`. */
export function rankedRule(
  fileBytes: Uint8Array,
  span: Span,
  allow: boolean,
  traits: DialectTraits,
): RankedRule {
  const { line, column, start, end } = span;
  pattern.read(fileBytes, start, end, traits);
  const { anchored, literalLength: prefixLength, priority, wild } = pattern;
  let from = pattern.start;
  let { length } = pattern;
  let bytes = pattern.bytes === fileBytes ? fileBytes : pattern.bytes.slice(from, from + length);
  if (wild) {
    // A trailing `*` changes no match.
    while (bytes[from + length - 1] === STAR) length--;
    // `/a**b` matches the same targets as `/a*b`.
    if (hasStars(bytes, from, from + length)) {
      bytes = bytes
        .slice(from, from + length)
        .filter((byte, at, all) => byte !== STAR || all[at - 1] !== STAR);
      from = 0;
      length = bytes.length;
    }
  }
  let head = 0;
  for (let at = 1; at <= HEAD_BYTES; at++) head = head * 256 + (at < prefixLength ? bytes[from + at]! : 0);
  const wholePrefix = !wild && !anchored;
  return {
    line,
    column,
    start,
    end,
    allow,
    priority,
    bytes,
    from,
    length,
    anchored,
    prefixLength,
    wholePrefix,
    head,
  };
}

/** Whether there are two `*` in a row. */
function hasStars(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) if (bytes[at] === STAR && bytes[at - 1] === STAR) return true;
  return false;
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
 * targets and wins. A rule is compared with all rules that match the same targets, and with those that match a whole
 * prefix of it. Some shadowed rules are not found, but none is reported wrongly.
 *
 * Rules with the same targets are grouped. Of the others, rules that are prefixes of each other are kept on a stack, so
 * the time is the time of sorting their bytes.
 */
export function findShadowed(
  rules: readonly RankedRule[],
  traits: DialectTraits,
  report: (rule: RankedRule, winner: RankedRule) => void,
): void {
  if (rules.length < 2) return;
  const sorted = bySameTargets(rules);
  /** The shadowed rules of one prefix. Only the first of many are shown, by line. */
  let shadowed: { readonly rule: RankedRule; readonly winner: RankedRule }[] = [];
  const flush = (): void => {
    for (const { rule, winner } of shadowed.sort((a, b) => a.rule.line - b.rule.line)) report(rule, winner);
    shadowed = [];
  };
  /** Each entry has the strongest rule of the stack up to it. */
  const stack: { readonly prefix: RankedRule; readonly best: RankedRule }[] = [];
  let before: RankedRule | undefined;
  for (const same of sorted) {
    const [first] = same;
    if (before !== undefined && byPrefix(before, first) !== 0) flush();
    before = first;
    while (stack.length > 0 && !startsWith(first, stack.at(-1)!.prefix)) stack.pop();
    let winner = first;
    for (const rule of same) if (beats(rule, winner, traits)) winner = rule;
    const above = stack.at(-1)?.best;
    if (above !== undefined && beats(above, winner, traits)) winner = above;
    for (const rule of same)
      if (winner !== rule && !hasDirectory(rule, traits)) shadowed.push({ rule, winner });
    if (first.wholePrefix) stack.push({ prefix: first, best: winner });
  }
  flush();
}

type SameTargets = [RankedRule, ...RankedRule[]];

/** The rules, grouped by what they match, and sorted. Hostile files often repeat a rule: each is sorted once. */
function bySameTargets(rules: readonly RankedRule[]): readonly SameTargets[] {
  const lists: SameTargets[] = [];
  const byHash = new Map<number, SameTargets>();
  for (const rule of rules) {
    const hash = hashOf(rule);
    const known = byHash.get(hash);
    if (known !== undefined && byTargets(known[0], rule) === 0) known.push(rule);
    else {
      const list: SameTargets = [rule];
      lists.push(list);
      if (known === undefined) byHash.set(hash, list);
    }
  }
  const sorted: SameTargets[] = [];
  for (const list of lists.sort(([a], [b]) => byTargets(a, b))) {
    const last = sorted.at(-1);
    // The same targets again, because other rules have their hash.
    if (last !== undefined && byTargets(last[0], list[0]) === 0) last.push(...list);
    else sorted.push(list);
  }
  return sorted;
}

function hashOf({ bytes, from, length }: RankedRule): number {
  let hash = length;
  for (let at = from; at < from + length; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
  return hash;
}

/** google/robotstxt also allows the directory of such a rule; the rule may still decide for that. */
function hasDirectory({ allow, bytes, from, length }: RankedRule, traits: DialectTraits): boolean {
  if (!traits.indexHtmlAllowsDirectory || !allow) return false;
  return asCharacters(bytes.subarray(from, from + length)).includes('/index.htm');
}

/** Whether all targets of `rule` have the prefix of `other`. */
function startsWith(rule: RankedRule, other: RankedRule): boolean {
  const { prefixLength } = other;
  return rule.prefixLength >= prefixLength && shared(rule, other, prefixLength) === prefixLength;
}

/** Orders rules by prefix, and among those by the rest. 0 if they match the same targets. */
function byTargets(a: RankedRule, b: RankedRule): number {
  return byPrefix(a, b) || compare(a, b, a.length, b.length) || Number(a.anchored) - Number(b.anchored);
}

/** Orders rules that match a whole prefix before other rules with that prefix. */
function byPrefix(a: RankedRule, b: RankedRule): number {
  return (
    a.head - b.head ||
    compare(a, b, a.prefixLength, b.prefixLength) ||
    Number(b.wholePrefix) - Number(a.wholePrefix)
  );
}

/** Compares the first `length` bytes of `a` with the first `otherLength` of `b`. */
function compare(a: RankedRule, b: RankedRule, length: number, otherLength: number): number {
  const least = Math.min(length, otherLength);
  const at = shared(a, b, least);
  return at < least ? a.bytes[a.from + at]! - b.bytes[b.from + at]! : length - otherLength;
}

/** The number of bytes, up to `most`, that two rules share from the start. */
function shared({ bytes, from }: RankedRule, other: RankedRule, most: number): number {
  const { bytes: otherBytes, from: otherFrom } = other;
  let at = 0;
  while (at < most && bytes[from + at] === otherBytes[otherFrom + at]) at++;
  return at;
}
