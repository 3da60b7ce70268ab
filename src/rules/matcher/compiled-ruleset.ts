import { ANCHORED, NO_RULE, REWRITTEN, type RulesetParts } from './ruleset.ts';
import { ListedRules } from './listed-rules.ts';

/*
 * The rules that are tried one after the other stand first. In a large ruleset those are the wild ones. The literal ones
 * follow, sorted by their octets, the anchored behind the other of the same octets. One word each, behind the entries,
 * names the longest other rule that is a prefix of it: its parent.
 *
 * Every rule that is a prefix of a target is the last rule that sorts not behind the target, or an ancestor of that. So
 * a question takes one binary search, and the few steps from parent to parent.
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
    // Rules between two that share so many octets with the target share as many.
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
