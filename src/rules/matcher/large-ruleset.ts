import { NO_RULE, Ruleset, type RulesetParts } from './ruleset.ts';

/*
 * Many rules. One word tells most targets apart: the hash of a literal rule, the octets that a wild one needs
 * (byte mask). Behind the rules and entries, `words` holds:
 *
 *   nodes    3 words each: first rule, end rule, literal length: the wild rules behind one literal prefix
 *   lengths  the distinct literal lengths, longest first; of literal rules, then of nodes
 *   slots    two open-addressed tables of 16-bit (or, if `wide`, 32-bit) numbers: literal text → rule, literal
 *            prefix → node
 *
 * A question hashes the target's prefixes once, octet by octet, and probes only the lengths that occur. So its
 * cost does not grow with the number of literal rules, and wild rules are looked at only where their literal
 * prefix fits.
 */
export const NODE_WORDS = 3;

export const HASH_SEED = -0x7ee3623b;
export const HASH_FACTOR = 0x01000193;

/** FNV's low bits alone are not mixed well enough for tables. */
export function slotOf(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15) ^ (hash >>> 7)) & mask;
}

export interface TableLayout {
  readonly nodeBase: number;
  readonly literalLengthBase: number;
  readonly nodeLengthBase: number;
  readonly literalSlotBase: number;
  readonly literalSlotMask: number;
  readonly nodeSlotBase: number;
  readonly nodeSlotMask: number;
  readonly wide: boolean;
  /** The most by which a literal rule's priority exceeds its literal length. */
  readonly slack: number;
}

let hashes = new Int32Array(256);

export class LargeRuleset extends Ruleset {
  private readonly layout: TableLayout;

  constructor(parts: RulesetParts, layout: TableLayout) {
    super(parts);
    this.layout = layout;
  }

  decide(octets: Uint8Array, start: number, end: number, byteMask: number): number {
    const { literalLengthBase, nodeLengthBase, literalSlotBase } = this.layout;
    const words = this.words;
    const longestLiteral = nodeLengthBase > literalLengthBase ? words[literalLengthBase]! : 0;
    const longestPrefix = literalSlotBase > nodeLengthBase ? words[nodeLengthBase]! : 0;
    const limit = Math.min(end - start, Math.max(longestLiteral, longestPrefix));
    hashPrefixes(octets, start, limit);
    const best = this.decideLiteral(octets, start, end, limit);
    return this.hasWild ? this.decideWild(octets, start, end, byteMask, limit, best) : best;
  }

  private decideLiteral(octets: Uint8Array, start: number, end: number, limit: number): number {
    const { literalLengthBase, nodeLengthBase, literalSlotBase, literalSlotMask, slack } = this.layout;
    const words = this.words;
    const byOrder = this.decidesByOrder;
    let best = NO_RULE;
    for (let at = literalLengthBase; at < nodeLengthBase; at++) {
      const length = words[at]!;
      if (length > limit) continue;
      if (best >= 0 && !byOrder && this.priorityOf(best) > length + slack) break;
      const hash = hashes[length]!;
      let slot = slotOf(hash, literalSlotMask);
      let entry: number;
      while ((entry = this.slotAt(literalSlotBase, slot)) !== 0) {
        if (words[entry - 1] === hash && this.literalFits(entry - 1, octets, start, end, 0)) {
          if (best < 0 || this.beats(entry - 1, best)) best = entry - 1;
        }
        slot = (slot + 1) & literalSlotMask;
      }
    }
    return best;
  }

  private decideWild(
    octets: Uint8Array,
    start: number,
    end: number,
    byteMask: number,
    limit: number,
    best: number,
  ): number {
    const { nodeBase, nodeLengthBase, literalSlotBase, nodeSlotBase, nodeSlotMask } = this.layout;
    const words = this.words;
    for (let at = nodeLengthBase; at < literalSlotBase; at++) {
      const length = words[at]!;
      if (length > limit) continue;
      let slot = slotOf(hashes[length]!, nodeSlotMask);
      let entry: number;
      while ((entry = this.slotAt(nodeSlotBase, slot)) !== 0) {
        const node = nodeBase + (entry - 1) * NODE_WORDS;
        if (words[node + 2] === length && this.prefixFits(words[node]!, length, octets, start)) {
          // The rules of a node stand best first: the first that fits is the one, and no worse is tried.
          const missing = ~byteMask;
          for (let rule = words[node]!; rule < words[node + 1]!; rule++) {
            if ((words[rule]! & missing) !== 0) continue;
            if (best >= 0 && !this.beats(rule, best)) break;
            if (!this.wildFits(rule, octets, start, end)) continue;
            best = rule;
            break;
          }
        }
        slot = (slot + 1) & nodeSlotMask;
      }
    }
    return best;
  }

  private slotAt(base: number, slot: number): number {
    if (this.layout.wide) return this.words[base + slot]!;
    return (this.words[base + (slot >> 1)]! >>> ((slot & 1) << 4)) & 0xffff;
  }
}

function hashPrefixes(octets: Uint8Array, start: number, limit: number): void {
  if (hashes.length <= limit) hashes = new Int32Array(limit * 2);
  let hash = HASH_SEED;
  hashes[0] = hash;
  for (let at = 0; at < limit;) {
    hash = Math.imul(hash ^ octets[start + at]!, HASH_FACTOR);
    hashes[++at] = hash;
  }
}
