import type { DialectTraits } from '../dialect.ts';
import type { MatchedGroup, MatchedRule } from '../describe.ts';
import { rankOf, type WrittenRule } from './rule-cursor.ts';
import type { RuleEntry, RuleTable } from './rule-table.ts';
import type { Selection } from './select.ts';
import { TargetSearch } from './target-search.ts';

/*
 * The compiled rules of one agent in one file. One Int32Array holds them, because a crawler keeps many thousands of
 * files; README.md draws the layout. Its constants are not exported: V8 compiles those of a module into its code, but
 * reads exported and imported ones each time, which costs a question 3 to 5 % (28,799 questions about 1,200 real files).
 */

/** Words of a rule. */
const RULE_WORDS = 3;
/** Words of the details of a rule: it has them when it does not fit three words. */
const DETAIL_WORDS = 6;

/* Flags, the lowest bits of word 2. */
const ALLOW = 1;
const ANCHORED = 2;
const REWRITTEN = 4;
const VARIES = 8;
const WILD = 16;
const DETAILED = 32;
/** The bits of word 2 from here on: how many bytes of word 0 are compared. 0, or 2 to 5 with the slash. */
const HEAD_SHIFT = 6;
/** The bit of word 2 from here on: how many bytes follow what is compared. None, or one `*` or `$`. */
const TAIL_SHIFT = 9;

/** Word 1: the offset is above the length. Word 2: the line is above the rest. */
const LOW_BITS = 12;
const LOW = (1 << LOW_BITS) - 1;
/** Offsets from here on need details. Lines are fewer than bytes. */
const HIGH_LIMIT = 1 << (32 - LOW_BITS);
/**
 * Longer patterns have details, because a description shows only their start. It must not exceed {@link LOW}: the length of
 * a rule without details is kept in the low bits of word 1, and a longer one would corrupt its offset.
 */
const MAX_PLAIN_BYTES = 2_000;

/** The number of bytes compared first: byte 0, and the four of word 0. */
const HEAD_BYTES = 5;
/** The mask of {@link headOf}, by the number of its bytes that are compared. */
const HEAD_MASK = Int32Array.of(0, 0, 0xff, 0xffff, 0xff_ffff, -1, 0, 0);

/** Up to this number of rules need no sieve. */
const UNSIEVED = 8;
/** Rules of a sieve, and words of it: one for each kind of beginning. */
const SIEVE = 32;

const NO_BYTES = new Uint8Array(0);
const NO_WORDS = new Int32Array(0);

/** No rule matches the target. */
export const NO_RULE = -1;

/** Searches for wild rules. Shared by all rulesets: decisions are synchronous and release the target. */
const search = new TargetSearch();

/** Bytes 1 to 4 of a normal form. Byte 0 is a slash in every one that can match. */
function headOf(bytes: Uint8Array, start: number, length: number): number {
  if (length >= HEAD_BYTES) {
    return (
      bytes[start + 1]! | (bytes[start + 2]! << 8) | (bytes[start + 3]! << 16) | (bytes[start + 4]! << 24)
    );
  }
  let head = 0;
  for (let at = length - 1; at > 0; at--) head = (head << 8) | bytes[start + at]!;
  return head;
}

/** A hash of bytes 1 and 2: one of 32 kinds of beginnings. */
const beginningOf = (first: number, second: number): number => (first * 5 + second * 11) & (SIEVE - 1);

/** The rules of a table, in the order in which a ruleset has them. */
export interface OrderedRules {
  /** Entries that are listed, best first. */
  readonly listed: readonly RuleEntry[];
  /** Entries of literal rules, sorted by bytes. */
  readonly sorted: readonly RuleEntry[];
  /** For each of `sorted` the index there of the longest other rule that is its prefix and not anchored; -1 if there is none. */
  readonly parents: readonly number[];
}

export class Ruleset {
  readonly scope: Selection['scope'];
  readonly crawlDelayMs: number;
  /** The groups that apply, as one; absent when there is none. */
  readonly group: MatchedGroup | undefined;
  readonly #fileBytes: Uint8Array;
  readonly #traits: DialectTraits;
  /** The number of rules. */
  readonly #count: number;
  /** The number of rules that are tried one after the other, best first. They come first; the others are sorted. */
  readonly #listed: number;
  readonly #words: Int32Array;
  /** The normal forms of the rewritten rules. */
  readonly #forms: Uint8Array;

  /** Compiles the rules of `table`. */
  constructor(
    { scope, crawlDelayMs }: Selection,
    group: MatchedGroup | undefined,
    fileBytes: Uint8Array,
    traits: DialectTraits,
    table: RuleTable,
    rules: OrderedRules,
  ) {
    this.scope = scope;
    this.crawlDelayMs = crawlDelayMs;
    this.group = group;
    this.#fileBytes = fileBytes;
    this.#traits = traits;
    this.#listed = rules.listed.length;
    this.#count = this.#listed + rules.sorted.length;
    this.#words = this.#count === 0 ? NO_WORDS : wordsOf(table, rules);
    const { bytes, length } = table.forms;
    this.#forms = length === 0 ? NO_BYTES : bytes.slice(0, length);
  }

  /** Bytes of memory beside its fields. */
  get byteLength(): number {
    return this.#words.byteLength + this.#forms.byteLength;
  }

  /**
   * Returns the number of the rule that decides `bytes[start, end)`, a target in normal form, or {@link NO_RULE}.
   * Allocates nothing.
   *
   * @param byteMask The byte mask of the target; extra bits are harmless.
   */
  decide(bytes: Uint8Array, start: number, end: number, byteMask: number): number {
    const count = this.#count;
    const listed = this.#listed;
    const best = count > listed ? this.#decideSorted(bytes, start, end) : NO_RULE;
    return listed > 0 ? this.#decideListed(bytes, start, end, byteMask, best) : best;
  }

  /**
   * Returns the rule that decides among the sorted ones. Of two rules with the same bytes the anchored one comes second.
   * Take the last rule that does not sort after the target. Every rule that is a prefix of the target is this rule or
   * one of its ancestors.
   */
  #decideSorted(bytes: Uint8Array, start: number, end: number): number {
    const words = this.#words;
    const listed = this.#listed;
    const count = this.#count;
    const size = end - start;
    let low = listed;
    let high = count;
    // When two rules share n bytes with the target, all rules sorted between them share at least n.
    let sharedLow = 0;
    let sharedHigh = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      const word = middle * RULE_WORDS;
      const length = this.#lengthOf(word);
      const pattern = this.#bytesOf(word);
      const from = this.#startOf(word);
      const room = length < size ? length : size;
      let shared = sharedLow < sharedHigh ? sharedLow : sharedHigh;
      while (shared < room && pattern[from + shared] === bytes[start + shared]) shared++;
      if (shared === length || (shared < size && pattern[from + shared]! < bytes[start + shared]!)) {
        low = middle + 1;
        sharedLow = shared;
      } else {
        high = middle;
        sharedHigh = shared;
      }
    }
    const parents = words.length - count;
    let best = NO_RULE;
    let rule = low - 1;
    while (rule >= listed) {
      const length = this.#lengthOf(rule * RULE_WORDS);
      const anchored = (words[rule * RULE_WORDS + 2]! & ANCHORED) !== 0;
      if (length <= sharedLow && (!anchored || length === size) && (best < 0 || this.#beats(rule, best)))
        best = rule;
      rule = words[parents + rule]!;
    }
    return best;
  }

  /** Returns the rule that decides among the listed rules (best first) and `best`, a rule that matches. */
  #decideListed(bytes: Uint8Array, start: number, end: number, byteMask: number, best: number): number {
    const head = headOf(bytes, start, end - start);
    const missing = ~byteMask;
    const listed = this.#listed;
    const words = this.#words;
    let searches = false;
    let decides = best;
    // A target without bytes 1 and 2 gives an arbitrary kind. That is correct: every sieve holds all rules as short as
    // this target, and longer rules do not match it.
    const kind = this.#count * RULE_WORDS + beginningOf(bytes[start + 1]!, bytes[start + 2]!);
    search: for (let first = 0; first < listed; first += SIEVE) {
      let left = listed > UNSIEVED ? words[kind + first]! : (1 << listed) - 1;
      for (; left !== 0; left &= left - 1) {
        const rule = first + 31 - Math.clz32(left & -left);
        const word = rule * RULE_WORDS;
        const facts = words[word + 2]!;
        const wild = (facts & WILD) !== 0;
        const differs = wild ? missing : HEAD_MASK[(facts >> HEAD_SHIFT) & 7]!;
        if (((wild ? words[word]! : words[word]! ^ head) & differs) !== 0) continue;
        if (best >= 0 && !this.#beats(rule, best)) break search;
        if (wild && !searches) {
          search.begin(bytes, start, end);
          searches = true;
        }
        if (wild ? this.#wildMatches(word, facts) : this.#literalMatches(word, facts, bytes, start, end)) {
          decides = rule;
          break search;
        }
      }
    }
    if (searches) search.end();
    return decides;
  }

  /** Whether a wild rule matches the target of {@link search}. */
  #wildMatches(word: number, facts: number): boolean {
    const anchored = (facts & ANCHORED) !== 0;
    return search.wildMatches(
      this.#bytesOf(word),
      this.#startOf(word),
      this.#lengthOf(word),
      anchored,
      (facts & VARIES) !== 0,
    );
  }

  /** Whether a literal rule matches. The caller has compared the first {@link HEAD_BYTES} bytes already. */
  #literalMatches(word: number, facts: number, bytes: Uint8Array, start: number, end: number): boolean {
    const length = this.#lengthOf(word);
    const room = end - start;
    if (length > room || ((facts & ANCHORED) !== 0 && length !== room)) return false;
    const pattern = this.#bytesOf(word);
    const from = this.#startOf(word);
    // Most patterns share a prefix, so comparing from the end finds a difference sooner.
    for (let at = length - 1; at >= HEAD_BYTES; at--) {
      if (pattern[from + at] !== bytes[start + at]) return false;
    }
    return true;
  }

  /** Whether `rule` takes precedence over `other` if both match. */
  #beats(rule: number, other: number): boolean {
    const word = rule * RULE_WORDS;
    const otherWord = other * RULE_WORDS;
    const traits = this.#traits;
    const more =
      rankOf(this.#priorityOf(word), this.isAllow(rule), traits) -
      rankOf(this.#priorityOf(otherWord), this.isAllow(other), traits);
    return more === 0 ? this.#offsetOf(word) < this.#offsetOf(otherWord) : more > 0;
  }

  isAllow(rule: number): boolean {
    return (this.#words[rule * RULE_WORDS + 2]! & ALLOW) !== 0;
  }

  /** The type of `rule`, and the position of its pattern in the file. */
  ruleAt(rule: number): WrittenRule {
    const word = rule * RULE_WORDS;
    return {
      allow: this.isAllow(rule),
      offset: this.#offsetOf(word),
      writtenLength: this.#detail(word, 3, this.#writtenOf(word)),
      line: this.#detail(word, 5, this.#words[word + 2]! >>> LOW_BITS),
    };
  }

  /**
   * The description of `rule`, which matches the target that starts at `start` of `text`, a target that is its own normal
   * form. The target then begins with the pattern. `undefined` when it does not, because the rule is wild or rewritten.
   */
  describeIn(rule: number, text: string, start: number): MatchedRule | undefined {
    const facts = this.#words[rule * RULE_WORDS + 2]!;
    if ((facts & (WILD | DETAILED)) !== 0) return undefined;
    const begin = text.slice(start, start + this.#lengthOf(rule * RULE_WORDS));
    return {
      directive: this.isAllow(rule) ? 'allow' : 'disallow',
      pattern: ((facts >> TAIL_SHIFT) & 1) === 0 ? begin : begin + ((facts & ANCHORED) === 0 ? '*' : '$'),
      line: facts >>> LOW_BITS,
    };
  }

  /** Number `detail` of the details of the rule at `word`, or `short` when it has none. */
  #detail(word: number, detail: number, short: number): number {
    const words = this.#words;
    return (words[word + 2]! & DETAILED) === 0 ? short : words[words[word + 1]! + detail]!;
  }

  /** The array that holds the normal form of the rule at `word`. */
  #bytesOf(word: number): Uint8Array {
    return (this.#words[word + 2]! & REWRITTEN) === 0 ? this.#fileBytes : this.#forms;
  }

  /** Where its normal form starts there. */
  #startOf(word: number): number {
    return this.#detail(word, 0, this.#words[word + 1]! >>> LOW_BITS);
  }

  /** The length of what is compared: of its normal form without the anchor and, if it is literal, trailing `*`. */
  #lengthOf(word: number): number {
    return this.#detail(word, 1, this.#words[word + 1]! & LOW);
  }

  #offsetOf(word: number): number {
    return this.#detail(word, 4, this.#words[word + 1]! >>> LOW_BITS);
  }

  #priorityOf(word: number): number {
    return this.#detail(word, 2, this.#writtenOf(word));
  }

  #writtenOf(word: number): number {
    return (this.#words[word + 1]! & LOW) + ((this.#words[word + 2]! >> TAIL_SHIFT) & 1);
  }
}

/** The words of a ruleset. */
function wordsOf(table: RuleTable, { listed, sorted, parents }: OrderedRules): Int32Array {
  const entries = [...listed, ...sorted];
  const sieves = entries.length * RULE_WORDS;
  const sieveWords = listed.length <= UNSIEVED ? 0 : Math.ceil(listed.length / SIEVE) * SIEVE;
  let detail = sieves + sieveWords;
  const details = entries.filter(needsDetails).length * DETAIL_WORDS;
  const words = new Int32Array(detail + details + parents.length);
  for (const [rule, entry] of entries.entries()) {
    const { start, length, literalLength, priority, writtenLength, offset, line } = entry;
    const head = headOf(table.bytesOf(entry), start, literalLength);
    const word = rule * RULE_WORDS;
    words[word] = entry.wild ? entry.byteMask : head;
    words[word + 2] = flagsOf(entry);
    if (needsDetails(entry)) {
      words[word + 1] = detail;
      words[word + 2]! |= DETAILED;
      for (const number of [start, length, priority, writtenLength, offset, line]) words[detail++] = number;
    } else {
      words[word + 1] = (offset << LOW_BITS) | length;
      words[word + 2]! |= ((writtenLength - length) << TAIL_SHIFT) | (line << LOW_BITS);
    }
    if (rule < listed.length && sieveWords > 0) addToSieve(words, sieves, rule, head, literalLength);
  }
  for (const parent of parents) words[detail++] = parent < 0 ? -1 : parent + listed.length;
  return words;
}

function flagsOf({ allow, anchored, rewritten, varies, wild, literalLength }: RuleEntry): number {
  return (
    (allow ? ALLOW : 0) |
    (anchored ? ANCHORED : 0) |
    (rewritten ? REWRITTEN : 0) |
    (varies ? VARIES : 0) |
    (wild ? WILD : 0) |
    (Math.min(literalLength, HEAD_BYTES) << HEAD_SHIFT)
  );
}

/** Whether a rule does not fit three words: behind what is compared these have one byte at most. */
function needsDetails({ rewritten, writtenLength, length, offset }: RuleEntry): boolean {
  return rewritten || writtenLength > MAX_PLAIN_BYTES || writtenLength - length > 1 || offset >= HIGH_LIMIT;
}

/**
 * Adds `rule` to the sieves at `sieves`: bit n of a word is set when rule n of the 32 may match a target that begins so.
 * `head`: its first bytes, of which `length` are before the first wildcard.
 */
function addToSieve(words: Int32Array, sieves: number, rule: number, head: number, length: number): void {
  const sieve = sieves + (rule & -SIEVE);
  const bit = 1 << (rule & (SIEVE - 1));
  if (length > 2) words[sieve + beginningOf(head & 0xff, (head >> 8) & 0xff)]! |= bit;
  else for (let kind = 0; kind < SIEVE; kind++) words[sieve + kind]! |= bit;
}
