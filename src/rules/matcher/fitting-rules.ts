import type { DialectTraits } from '../dialect.ts';
import type { NormalForm } from '../normal-form/normal-form.ts';
import { Pattern } from '../normal-form/pattern.ts';
import { eachPattern, rankOf, type WrittenRule } from './rule.ts';
import { TargetSearch } from './target-search.ts';

/** A rule that fits a target. */
export interface FittingRule extends WrittenRule {
  /** The number of octets that count for precedence. The larger number is more specific. */
  readonly priority: number;
}

/** Those of `rules` of a file that fit `target`, the one that decides first. */
export function fittingRules(
  bytes: Uint8Array,
  rules: Iterable<WrittenRule>,
  traits: DialectTraits,
  target: NormalForm,
): FittingRule[] {
  const fitting: FittingRule[] = [];
  const pattern = new Pattern();
  const search = new TargetSearch();
  search.begin(target.octets, 0, target.length);
  for (const rule of rules) {
    const { allow, offset, writtenLength } = rule;
    eachPattern(bytes, offset, offset + writtenLength, allow, traits, pattern, () => {
      if ((pattern.byteMask & ~target.byteMask) === 0 && search.fits(pattern)) {
        fitting.push({ ...rule, priority: pattern.priority });
      }
    });
  }
  const rank = ({ priority, allow }: FittingRule): number => rankOf(priority, allow, traits);
  return fitting.sort((a, b) => rank(b) - rank(a) || a.offset - b.offset);
}
