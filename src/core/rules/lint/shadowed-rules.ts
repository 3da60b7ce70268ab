import type { DialectTraits } from '../dialect.ts';
import { asCharacters, STAR } from '../bytes.ts';
import { Pattern } from '../normal-form/pattern.ts';
import type { Span } from './diagnostic.ts';

/** What the pattern of a rule matches. Rules with the same text share one. */
export interface RankedPattern {
  /** Its text, as a range of the file. */
  readonly start: number;
  readonly end: number;
  /** Bytes that count for precedence. More bytes are more specific. */
  readonly priority: number;
  /** The bytes that hold its normal form, and where it starts there. */
  readonly bytes: Uint8Array;
  readonly from: number;
  /** The length of its normal form. Two patterns match the same targets if this, the anchor and the bytes are equal. */
  readonly length: number;
  readonly anchored: boolean;
  /** The length of the common prefix of all targets that it matches. */
  readonly prefixLength: number;
  /** Whether it matches every target with that prefix. */
  readonly wholePrefix: boolean;
  /** Bytes 1 to 4 of that prefix as one number, without the last bit: it tells most patterns apart. */
  readonly head: number;
  /** The list that a rule with this pattern was added to last, and that rule. */
  list: RuleList | undefined;
  last: RankedRule | undefined;
}

/** A rule with the properties that decide whether another one shadows it. */
export interface RankedRule extends Span {
  readonly allow: boolean;
  readonly pattern: RankedPattern;
  /** The rule that shadows it. */
  winner: RankedRule | undefined;
  /** The next rule that matches the same targets. */
  next: RankedRule | undefined;
}

/** Rules that apply together: the first of each text. The others with its text follow it. */
export type RuleList = RankedRule[];

const CHUNK_BYTES = 65_536;

/** Reads the patterns of a file, each text once. */
export class RankedPatterns {
  readonly #bytes: Uint8Array;
  readonly #traits: DialectTraits;
  readonly #pattern = new Pattern();
  readonly #byHash = new Map<number, RankedPattern>();
  /** Normal forms that are not in the file, one after the other. */
  #chunk = new Uint8Array(0);
  #used = 0;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.#bytes = bytes;
    this.#traits = traits;
  }

  /** The pattern at `[start, end)`. */
  read(start: number, end: number): RankedPattern {
    const bytes = this.#bytes;
    let hash = end - start;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + bytes[at]!) | 0;
    const known = this.#byHash.get(hash);
    if (known !== undefined && sameText(bytes, known, start, end)) return known;
    const pattern = this.#rank(start, end);
    if (known === undefined) this.#byHash.set(hash, pattern);
    return pattern;
  }

  #rank(start: number, end: number): RankedPattern {
    const pattern = this.#pattern;
    pattern.read(this.#bytes, start, end, this.#traits);
    const { anchored, literalLength: prefixLength, priority, wild } = pattern;
    let { bytes, start: from, length } = pattern;
    // A trailing `*` changes no match.
    if (wild) while (bytes[from + length - 1] === STAR) length--;
    // `/a**b` matches the same targets as `/a*b`.
    if (bytes !== this.#bytes || (wild && hasStars(bytes, from, from + length))) {
      from = this.#keep(bytes, from, from + length, wild);
      bytes = this.#chunk;
      length = this.#used - from;
    }
    let head = 0;
    for (let at = 1; at < 5; at++) head = head * 256 + (at < prefixLength ? bytes[from + at]! : 0);
    return {
      start,
      end,
      priority,
      bytes,
      from,
      length,
      anchored,
      prefixLength,
      wholePrefix: !wild && !anchored,
      head: head >>> 1,
      list: undefined,
      last: undefined,
    };
  }

  /** Copies a normal form; of a wild one, only the first of several `*` in a row. Returns where it starts. */
  #keep(bytes: Uint8Array, start: number, end: number, wild: boolean): number {
    if (this.#chunk.length - this.#used < end - start) {
      this.#chunk = new Uint8Array(Math.max(CHUNK_BYTES, end - start));
      this.#used = 0;
    }
    const chunk = this.#chunk;
    const from = this.#used;
    let to = from;
    for (let at = start; at < end; at++) {
      const byte = bytes[at]!;
      if (byte !== STAR || !wild || at === start || bytes[at - 1] !== STAR) chunk[to++] = byte;
    }
    this.#used = to;
    return from;
  }
}

function sameText(bytes: Uint8Array, known: RankedPattern, start: number, end: number): boolean {
  if (known.end - known.start !== end - start) return false;
  for (let at = start, other = known.start; at < end; at++, other++)
    if (bytes[at] !== bytes[other]) return false;
  return true;
}

/** Adds a rule to the rules that it applies with. The list may begin with it. */
export function addTo(list: RuleList, rule: RankedRule): void {
  const { pattern } = rule;
  if (pattern.list === list && pattern.last !== undefined) pattern.last.next = rule;
  else if (list[0] !== rule) list.push(rule);
  pattern.list = list;
  pattern.last = rule;
}

/** Whether there are two `*` in a row. */
function hasStars(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start + 1; at < end; at++) if (bytes[at] === STAR && bytes[at - 1] === STAR) return true;
  return false;
}

/** Whether `rule` wins when both match: by "the most octets", then allow, then file order. */
export function beats(rule: RankedRule, other: RankedRule, { decides }: DialectTraits): boolean {
  if (decides === 'longest') {
    const { priority } = rule.pattern;
    if (priority !== other.pattern.priority) return priority > other.pattern.priority;
    if (rule.allow !== other.allow) return rule.allow;
  }
  return rule.line < other.line;
}

/**
 * Calls `report` for each rule of a merged group that can never decide, because one other rule matches all of its
 * targets and wins. A rule is compared with all rules that match the same targets, and with those that match a whole
 * prefix of it. Some shadowed rules are not found, but none is reported wrongly.
 *
 * Patterns that are prefixes of each other are kept on a stack, so the time is the time of sorting the patterns that
 * differ.
 */
export function findShadowed(
  rules: RuleList,
  traits: DialectTraits,
  report: (rule: RankedRule, winner: RankedRule) => void,
): void {
  if (rules.length === 1 && rules[0]!.next === undefined) return;
  /** The shadowed rules of one prefix. Only the first of many are shown, by line. */
  let shadowed: RankedRule[] = [];
  const flush = (): void => {
    for (const rule of shadowed.sort((a, b) => a.line - b.line)) report(rule, rule.winner!);
    shadowed = [];
  };
  /** Each entry has the strongest rule of the stack up to it. */
  const stack: { readonly prefix: RankedPattern; readonly best: RankedRule }[] = [];
  let before: RankedPattern | undefined;
  for (const first of bySameTargets(rules)) {
    const { pattern } = first;
    if (before !== undefined && byPrefix(before, pattern) !== 0) flush();
    before = pattern;
    while (stack.length > 0 && !startsWith(pattern, stack.at(-1)!.prefix)) stack.pop();
    let winner = first;
    for (let rule = first.next; rule !== undefined; rule = rule.next)
      if (beats(rule, winner, traits)) winner = rule;
    const above = stack.at(-1)?.best;
    if (above !== undefined && beats(above, winner, traits)) winner = above;
    for (let rule: RankedRule | undefined = first; rule !== undefined; rule = rule.next) {
      if (winner === rule || hasDirectory(rule, traits)) continue;
      rule.winner = winner;
      shadowed.push(rule);
    }
    if (pattern.wholePrefix) stack.push({ prefix: pattern, best: winner });
  }
  flush();
}

/** The first rules of those that match the same targets, sorted by their patterns. */
function bySameTargets(rules: RuleList): RuleList {
  const sorted: RuleList = [];
  let last: RankedRule | undefined;
  for (const rule of rules.sort((a, b) => byTargets(a.pattern, b.pattern))) {
    // The same targets in other words.
    if (last !== undefined && byTargets(last.pattern, rule.pattern) === 0) last.next = rule;
    else sorted.push(rule);
    last = rule;
    while (last.next !== undefined) last = last.next;
  }
  return sorted;
}

/** google/robotstxt also allows the directory of such a rule; the rule may still decide for that. */
function hasDirectory({ allow, pattern }: RankedRule, traits: DialectTraits): boolean {
  if (!traits.indexHtmlAllowsDirectory || !allow) return false;
  const { bytes, from, length } = pattern;
  return asCharacters(bytes.subarray(from, from + length)).includes('/index.htm');
}

/** Whether all targets of `pattern` have the prefix of `other`. */
function startsWith(pattern: RankedPattern, other: RankedPattern): boolean {
  const { prefixLength } = other;
  return pattern.prefixLength >= prefixLength && shared(pattern, other, prefixLength) === prefixLength;
}

/** Orders patterns by prefix, and among those by the rest. 0 if they match the same targets. */
function byTargets(a: RankedPattern, b: RankedPattern): number {
  return byPrefix(a, b) || compare(a, b, a.length, b.length) || Number(a.anchored) - Number(b.anchored);
}

/** Orders patterns that match a whole prefix before others with that prefix. */
function byPrefix(a: RankedPattern, b: RankedPattern): number {
  return (
    a.head - b.head ||
    compare(a, b, a.prefixLength, b.prefixLength) ||
    Number(b.wholePrefix) - Number(a.wholePrefix)
  );
}

/** Compares the first `length` bytes of `a` with the first `otherLength` of `b`. */
function compare(a: RankedPattern, b: RankedPattern, length: number, otherLength: number): number {
  const least = Math.min(length, otherLength);
  const at = shared(a, b, least);
  return at < least ? a.bytes[a.from + at]! - b.bytes[b.from + at]! : length - otherLength;
}

/** The number of bytes, up to `most`, that two patterns share from the start. */
function shared({ bytes, from }: RankedPattern, other: RankedPattern, most: number): number {
  const { bytes: otherBytes, from: otherFrom } = other;
  let at = 0;
  while (at < most && bytes[from + at] === otherBytes[otherFrom + at]) at++;
  return at;
}
