import type { DialectTraits } from '../dialect.ts';
import { LINE_ALLOW } from '../parse-line.ts';
import type { NormalForm } from '../normal-form/normal-form.ts';
import { Pattern } from '../normal-form/pattern.ts';
import { eachPattern, rankOf, type WrittenRule, RuleCursor } from './rule-cursor.ts';
import { type Selection, selectRules } from './select.ts';
import { TargetSearch } from './target-search.ts';

/**
 * Finds the rule that decides about `target` for `agent` (bytes, lower case) without compiling rules: each is tried
 * where it is read, and is not kept. Later rules that are no better are skipped.
 */
export function matchOnce(
  fileBytes: Uint8Array,
  agent: Uint8Array,
  traits: DialectTraits,
  target: NormalForm,
): { readonly selection: Selection; readonly rule: WrittenRule | undefined } {
  const { bytes, length, byteMask } = target;
  const cursor = new RuleCursor(fileBytes, traits, bytes, length);
  const pattern = new Pattern();
  const search = new TargetSearch();
  let rule: WrittenRule | undefined;
  const tryPattern = (): void => {
    const rank = rankOf(pattern.priority, cursor.kind === LINE_ALLOW, traits);
    if (rank <= cursor.bestRank || (pattern.byteMask & ~byteMask) !== 0 || !search.matches(pattern)) return;
    rule = cursor.rule;
    cursor.bestRank = rank;
  };
  search.begin(bytes, 0, length);
  const selection = selectRules(cursor, agent, traits, pattern, tryPattern, () => {
    rule = undefined;
    cursor.bestRank = -1;
  });
  return { selection, rule };
}

/** A rule that matches a target. */
export interface MatchingRule extends WrittenRule {
  /** The number of bytes that precedence compares. The larger number is more specific. */
  readonly priority: number;
}

/** The rules of a file that match `target`, the deciding one first. */
export function matchingRules(
  fileBytes: Uint8Array,
  rules: Iterable<WrittenRule>,
  traits: DialectTraits,
  target: NormalForm,
): MatchingRule[] {
  const matching: MatchingRule[] = [];
  const pattern = new Pattern();
  const search = new TargetSearch();
  search.begin(target.bytes, 0, target.length);
  for (const rule of rules) {
    const { allow, offset, writtenLength } = rule;
    eachPattern(fileBytes, offset, offset + writtenLength, allow, traits, pattern, () => {
      if ((pattern.byteMask & ~target.byteMask) === 0 && search.matches(pattern)) {
        matching.push({ ...rule, priority: pattern.priority });
      }
    });
  }
  const rank = ({ priority, allow }: MatchingRule): number => rankOf(priority, allow, traits);
  return matching.sort((a, b) => rank(b) - rank(a) || a.offset - b.offset);
}
