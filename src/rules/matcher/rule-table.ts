import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, SLASH } from '../octets.ts';
import { NormalForm } from './normal-form.ts';
import { PatternFacts, readPattern } from './pattern.ts';
import { ALLOW, ANCHORED, FLAG_BITS, FOLDS, REWRITTEN, WILD } from './ruleset.ts';
import { headOf } from './small-ruleset.ts';

/** Columns of a table instead of objects: a file can have 60,000 rules. */
const COLUMNS = 7;
/** More than a file can have, and few enough that a priority beside a row fits a number. */
const ROWS = 2 ** 24;
const OFFSET = 0;
const FACTS = 1;
const LITERAL_LENGTH = 2;
const PRIORITY = 3;
const BYTE_MASK = 4;
/** Where the normal form stands: in the file, or in `forms` if REWRITTEN. */
const TEXT = 5;
/** Its octets: of wild rules all, of literal ones without trailing wildcards. */
const TEXT_LENGTH = 6;

/** The rules of one agent while they are compiled. Reused, so that a file costs no garbage. */
export class RuleTable {
  count = 0;
  wildCount = 0;
  /** Normal forms of the rewritten rules, one after the other. */
  readonly forms: NormalForm = new NormalForm();
  private cells = new Int32Array(64 * COLUMNS);
  private bytes: Uint8Array = new Uint8Array(0);
  private keys = new Float64Array(128);
  private byOrder = false;
  private readonly facts = new PatternFacts();

  start(bytes: Uint8Array, traits: DialectTraits): void {
    this.bytes = bytes;
    this.byOrder = traits.decides === 'first';
    this.count = this.wildCount = this.forms.length = 0;
  }

  /**
   * Adds the pattern `source[start, end)`, unless it can fit no target, which all start with a slash. `offset` and `written` say where the pattern of its rule stands in the
   * file, which is the same place unless the pattern was derived from it.
   */
  add(
    source: Uint8Array,
    start: number,
    end: number,
    offset: number,
    written: number,
    allow: boolean,
    traits: DialectTraits,
  ): void {
    const { facts, forms } = this;
    const from = forms.length;
    readPattern(source, start, end, traits, facts, forms);
    if (facts.literalLength > 0 && (facts.inPlace ? source[start] : forms.octets[from]) !== SLASH) {
      forms.length = from;
      return;
    }
    const rewritten = !facts.inPlace || source !== this.bytes;
    if (facts.inPlace && rewritten) {
      const last = source[end - 1] === DOLLAR ? end - 1 : end;
      for (let at = start; at < last; at++) forms.push(source[at]!);
    }
    const at = this.count++ * COLUMNS;
    if (at + COLUMNS > this.cells.length) {
      const grown = new Int32Array(this.cells.length * 2);
      grown.set(this.cells);
      this.cells = grown;
    }
    const { cells } = this;
    cells[at + OFFSET] = offset;
    cells[at + FACTS] =
      (written << FLAG_BITS) |
      (allow ? ALLOW : 0) |
      (facts.anchored ? ANCHORED : 0) |
      (rewritten ? REWRITTEN : 0) |
      (facts.folds ? FOLDS : 0) |
      (facts.wild ? WILD : 0);
    cells[at + LITERAL_LENGTH] = facts.literalLength;
    cells[at + PRIORITY] = facts.priority;
    cells[at + BYTE_MASK] = facts.byteMask;
    cells[at + TEXT] = rewritten ? from : offset;
    cells[at + TEXT_LENGTH] = facts.wild
      ? rewritten
        ? forms.length - from
        : end - start
      : facts.literalLength;
    if (facts.wild) this.wildCount++;
  }

  offset(row: number): number {
    return this.cells[row * COLUMNS + OFFSET]!;
  }

  factsOf(row: number): number {
    return this.cells[row * COLUMNS + FACTS]!;
  }

  isWild(row: number): boolean {
    return (this.factsOf(row) & WILD) !== 0;
  }

  isRewritten(row: number): boolean {
    return (this.factsOf(row) & REWRITTEN) !== 0;
  }

  literalLength(row: number): number {
    return this.cells[row * COLUMNS + LITERAL_LENGTH]!;
  }

  priority(row: number): number {
    return this.cells[row * COLUMNS + PRIORITY]!;
  }

  byteMask(row: number): number {
    return this.cells[row * COLUMNS + BYTE_MASK]!;
  }

  text(row: number): number {
    return this.cells[row * COLUMNS + TEXT]!;
  }

  textLength(row: number): number {
    return this.cells[row * COLUMNS + TEXT_LENGTH]!;
  }

  /** Negative when `a` wins over `b`, both fitting: the order of {@link Ruleset}. */
  compare(a: number, b: number): number {
    if (!this.byOrder) {
      const more = this.priority(b) - this.priority(a);
      if (more !== 0) return more;
      const allow = (this.factsOf(b) & ALLOW) - (this.factsOf(a) & ALLOW);
      if (allow !== 0) return allow;
    }
    return this.offset(a) - this.offset(b);
  }

  /** All table, or all wild ones, best first. Sorted as numbers, by the platform: comparing table takes longer. */
  bestFirst(wildOnly: boolean): number[] {
    if (this.keys.length < this.count) this.keys = new Float64Array(this.count * 2);
    let length = 0;
    for (let row = 0; row < this.count; row++) {
      if (wildOnly && !this.isWild(row)) continue;
      const rank = this.byOrder ? 0 : this.priority(row) * 2 + (this.factsOf(row) & ALLOW);
      this.keys[length++] = -(rank * ROWS + (ROWS - 1 - row));
    }
    const keys = this.keys.subarray(0, length).sort();
    const order: number[] = [];
    for (let at = 0; at < length; at++) order.push(ROWS - 1 - (-keys[at]! % ROWS));
    return order;
  }

  head(row: number): number {
    return headOf(this.octets(row), this.text(row), this.literalLength(row));
  }

  /** The octets among which the normal form of `row` stands. */
  octets(row: number): Uint8Array {
    return this.isRewritten(row) ? this.forms.octets : this.bytes;
  }
}
