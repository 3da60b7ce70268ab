import type { DialectTraits } from '../dialect.ts';
import { NormalForm } from '../normal-form/normal-form.ts';
import type { Pattern } from '../normal-form/pattern.ts';
import { rankOf, type WrittenRule } from './rule-cursor.ts';

/** A pattern of a rule, as {@link Pattern} has it, while the rules of an agent are compiled. */
export interface RuleEntry extends WrittenRule {
  /** Its normal form, in `bytesOf`. */
  readonly start: number;
  readonly length: number;
  readonly literalLength: number;
  readonly priority: number;
  readonly rank: number;
  readonly byteMask: number;
  readonly anchored: boolean;
  readonly varies: boolean;
  readonly wild: boolean;
  /** Whether its normal form is not what the file has. */
  readonly rewritten: boolean;
}

/** The rules of one agent while they are compiled. */
export class RuleTable {
  readonly entries: RuleEntry[] = [];
  /** The normal forms of all rewritten rules, one after the other. */
  readonly forms: NormalForm = new NormalForm();
  readonly #bytes: Uint8Array;
  readonly #traits: DialectTraits;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.#bytes = bytes;
    this.#traits = traits;
  }

  clear(): void {
    this.entries.length = this.forms.length = 0;
  }

  /** Adds a rule. `pattern` is its pattern, or was derived from it. */
  add(pattern: Pattern, rule: WrittenRule): void {
    const { allow, offset, writtenLength, line } = rule;
    const { bytes, start, length, literalLength, priority, byteMask, anchored, varies, wild } = pattern;
    const { forms } = this;
    const rewritten = bytes !== this.#bytes;
    this.entries.push({
      allow,
      offset,
      writtenLength,
      line,
      start: rewritten ? forms.length : start,
      length,
      literalLength,
      priority,
      rank: rankOf(priority, allow, this.#traits),
      byteMask,
      anchored,
      varies,
      wild,
      rewritten,
    });
    if (rewritten) for (let at = start; at < start + length; at++) forms.push(bytes[at]!);
  }

  /** The bytes that hold the normal form of an entry: those of the file, or of {@link forms}. */
  bytesOf({ rewritten }: RuleEntry): Uint8Array {
    return rewritten ? this.forms.bytes : this.#bytes;
  }
}
