import { ANCHORED, NO_RULE, REWRITTEN, type RulesetParts } from './ruleset.ts';
import { ListedRules } from './listed-rules.ts';

/*
 * The listed rules, which are tried one after the other, come first. In a large ruleset these are the wild rules. The
 * literal rules follow, sorted by octets; of two rules with the same octets the anchored one comes second. After the
 * entries each literal rule has one word: the index of its parent, the longest other rule that is a prefix of it.
 *
 * Take the last rule that does not sort after the target. Every rule that is a prefix of the target is this rule or one
 * of its ancestors. So a decision takes one binary search and a few steps from parent to parent.
 */
export class CompiledRuleset extends ListedRules {
  private readonly listed: number;
  private readonly parentBase: number;

  constructor(parts: RulesetParts, listed: number, parentBase: number) {
    super(parts);
    this.listed = listed;
    this.parentBase = parentBase;
  }

  override decide(octets: Uint8Array, start: number, end: number, byteMask: number): number {
    const { count, listed } = this;
    const best = count > listed ? this.decideLiteral(octets, start, end) : NO_RULE;
    return listed > 0 ? this.decideListed(listed, octets, start, end, byteMask, best) : best;
  }

  private decideLiteral(octets: Uint8Array, start: number, end: number): number {
    const { words, listed } = this;
    const size = end - start;
    let low = listed;
    let high = this.count;
    // When two rules share n octets with the target, all rules sorted between them share at least n.
    let sharedLow = 0;
    let sharedHigh = 0;
    while (low < high) {
      const middle = (low + high) >> 1;
      const word = this.wordOf(middle);
      const facts = words[word + 1]!;
      const length = words[word + 2]!;
      const rewritten = (facts & REWRITTEN) !== 0;
      const pattern = rewritten ? this.extra : this.bytes;
      const from = rewritten ? words[this.entryOf(facts)]! : words[word]!;
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
    let best = NO_RULE;
    let rule = low - 1;
    while (rule >= listed) {
      const word = this.wordOf(rule);
      const length = words[word + 2]!;
      const anchored = (words[word + 1]! & ANCHORED) !== 0;
      if (length <= sharedLow && (!anchored || length === size) && (best < 0 || this.beats(rule, best)))
        best = rule;
      rule = words[this.parentBase + rule]!;
    }
    return best;
  }
}
