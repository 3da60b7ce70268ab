import { ANCHORED, FLAG_BITS, NO_RULE, RULE_WORDS, Ruleset, WILD } from './ruleset.ts';
import { beginningOf, HEAD_MASK, headOf, SIEVE, UNSIEVED } from './listed-rules.ts';
import { releaseIndex, startSearch, wildFits } from './search.ts';

/*
 * The listed rules, which are tried one after the other, come first. In a large ruleset these are the wild rules. The
 * literal rules follow, sorted by octets; of two rules with the same octets the anchored one comes second. At the end
 * of the words each literal rule has one word: the index of its parent, the longest other rule that is a prefix of it.
 *
 * Take the last rule that does not sort after the target. Every rule that is a prefix of the target is this rule or one
 * of its ancestors. So a decision takes one binary search and a few steps from parent to parent.
 */

// V8 compiles constants of a module into its code, but reads imported and exported ones each time.
const WORDS = RULE_WORDS;
const IS_WILD = WILD;
const HEADS_AT = FLAG_BITS;
const MASKS = HEAD_MASK;
const SIEVED = SIEVE;
const FEW = UNSIEVED;

export class CompiledRuleset extends Ruleset {
  override decide(octets: Uint8Array, start: number, end: number, byteMask: number): number {
    const { count, listed } = this;
    let best = count > listed ? this.decideLiteral(octets, start, end) : NO_RULE;
    if (listed > 0) best = this.decideListed(octets, start, end, byteMask, best);
    releaseIndex();
    return best;
  }

  private decideLiteral(octets: Uint8Array, start: number, end: number): number {
    const { words, listed, count } = this;
    const size = end - start;
    let low = listed;
    let high = count;
    // When two rules share n octets with the target, all rules sorted between them share at least n.
    let sharedLow = 0;
    let sharedHigh = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      const word = middle * WORDS;
      const length = this.sizeOf(word);
      const pattern = this.octetsOf(word);
      const from = this.startOf(word);
      const room = length < size ? length : size;
      let shared = sharedLow < sharedHigh ? sharedLow : sharedHigh;
      while (shared < room && pattern[from + shared] === octets[start + shared]) shared++;
      if (shared === length || (shared < size && pattern[from + shared]! < octets[start + shared]!)) {
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
      const length = this.sizeOf(rule * WORDS);
      const anchored = (words[rule * WORDS + 2]! & ANCHORED) !== 0;
      if (length <= sharedLow && (!anchored || length === size) && (best < 0 || this.beats(rule, best)))
        best = rule;
      rule = words[parents + rule]!;
    }
    return best;
  }

  /** Returns the rule that decides among the listed rules (best first) and `best`, a rule known to fit. */
  private decideListed(
    octets: Uint8Array,
    start: number,
    end: number,
    byteMask: number,
    best: number,
  ): number {
    const head = headOf(octets, start, end - start);
    const missing = ~byteMask;
    const { listed, words } = this;
    let searches = false;
    // A target without octets 1 and 2 gives an arbitrary kind. That is correct: every sieve holds all rules as short as
    // this target, and longer rules do not fit it.
    const kind = this.count * WORDS + beginningOf(octets[start + 1]!, octets[start + 2]!);
    for (let first = 0; first < listed; first += SIEVED) {
      let left = listed > FEW ? words[kind + first]! : (1 << listed) - 1;
      for (; left !== 0; left &= left - 1) {
        const rule = first + 31 - Math.clz32(left & -left);
        const word = rule * WORDS;
        const facts = words[word + 2]!;
        const wild = (facts & IS_WILD) !== 0;
        const differs = wild ? missing : MASKS[(facts >> HEADS_AT) & 7]!;
        if (((wild ? words[word]! : words[word]! ^ head) & differs) !== 0) continue;
        if (best >= 0 && !this.beats(rule, best)) return best;
        if (!wild) {
          if (this.literalFits(word, facts, octets, start, end)) return rule;
          continue;
        }
        if (!searches) startSearch(octets, start, end);
        searches = true;
        if (wildFits(this.octetsOf(word), this.startOf(word), this.sizeOf(word), facts)) return rule;
      }
    }
    return best;
  }
}
