import type { DialectTraits } from '../dialect.ts';
import { NormalForm } from '../normal-form/normal-form.ts';
import type { Pattern } from '../normal-form/pattern.ts';
import { rankOf } from './rule-cursor.ts';

/*
 * The columns of an entry, as numbers: they take less memory than objects, and a file can have 60,000 rules. The first
 * six columns are the details of a rule in a ruleset.
 */
const COLUMNS = 9;
const START = 0;
const LENGTH = 1;
const PRIORITY = 2;
const WRITTEN = 3;
const OFFSET = 4;
const LINE = 5;
const FACTS = 6;
const LITERAL_LENGTH = 7;
const BYTE_MASK = 8;

/* The facts: the same bits as the flags in a ruleset. */
const ALLOW = 1;
const ANCHORED = 2;
const REWRITTEN = 4;
const VARIES = 8;
const WILD = 16;

/** More rules than a file can have. Small enough that a rank and an entry together fit a number exactly. */
const MAX_ENTRIES = 2 ** 24;

/** The rules of one agent while they are compiled. */
export class RuleTable {
  /** The number of entries. */
  count = 0;
  /** The normal forms of all rewritten rules, one after the other. */
  readonly forms: NormalForm = new NormalForm();
  #cells = new Int32Array(16 * COLUMNS);
  readonly #bytes: Uint8Array;
  readonly #traits: DialectTraits;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.#bytes = bytes;
    this.#traits = traits;
  }

  clear(): void {
    this.count = this.forms.length = 0;
  }

  /** Adds a rule that stands at `offset`. `pattern` is its pattern, or was derived from it. */
  add(pattern: Pattern, offset: number, written: number, line: number, allow: boolean): void {
    const { forms } = this;
    const rewritten = pattern.bytes !== this.#bytes;
    const at = this.count++ * COLUMNS;
    if (at + COLUMNS > this.#cells.length) {
      const grown = new Int32Array(this.#cells.length * 2);
      grown.set(this.#cells);
      this.#cells = grown;
    }
    const cells = this.#cells;
    cells[at + OFFSET] = offset;
    cells[at + WRITTEN] = written;
    cells[at + LINE] = line;
    cells[at + FACTS] =
      (allow ? ALLOW : 0) |
      (pattern.anchored ? ANCHORED : 0) |
      (pattern.varies ? VARIES : 0) |
      (pattern.wild ? WILD : 0) |
      (rewritten ? REWRITTEN : 0);
    cells[at + LITERAL_LENGTH] = pattern.literalLength;
    cells[at + PRIORITY] = pattern.priority;
    cells[at + BYTE_MASK] = pattern.byteMask;
    cells[at + START] = rewritten ? forms.length : pattern.start;
    cells[at + LENGTH] = pattern.length;
    if (!rewritten) return;
    for (let byte = 0; byte < pattern.length; byte++) forms.push(pattern.bytes[pattern.start + byte]!);
  }

  offsetOf(entry: number): number {
    return this.#cells[entry * COLUMNS + OFFSET]!;
  }

  /** The length of its pattern as written. */
  writtenOf(entry: number): number {
    return this.#cells[entry * COLUMNS + WRITTEN]!;
  }

  lineOf(entry: number): number {
    return this.#cells[entry * COLUMNS + LINE]!;
  }

  isAllow(entry: number): boolean {
    return this.#has(entry, ALLOW);
  }

  isAnchored(entry: number): boolean {
    return this.#has(entry, ANCHORED);
  }

  isWild(entry: number): boolean {
    return this.#has(entry, WILD);
  }

  isRewritten(entry: number): boolean {
    return this.#has(entry, REWRITTEN);
  }

  /** {@link ALLOW} and the other facts. */
  factsOf(entry: number): number {
    return this.#cells[entry * COLUMNS + FACTS]!;
  }

  /** Writes start, length, priority, length as written, offset and line into `words`. Copying from a subarray takes longer. */
  writeDetails(entry: number, words: Int32Array, at: number): void {
    const cells = this.#cells;
    for (let column = 0; column < FACTS; column++) words[at + column] = cells[entry * COLUMNS + column]!;
  }

  #has(entry: number, fact: number): boolean {
    return (this.factsOf(entry) & fact) !== 0;
  }

  literalLengthOf(entry: number): number {
    return this.#cells[entry * COLUMNS + LITERAL_LENGTH]!;
  }

  priorityOf(entry: number): number {
    return this.#cells[entry * COLUMNS + PRIORITY]!;
  }

  byteMaskOf(entry: number): number {
    return this.#cells[entry * COLUMNS + BYTE_MASK]!;
  }

  /** The bytes that hold its normal form: those of the file, or of {@link forms}. */
  bytesOf(entry: number): Uint8Array {
    return this.isRewritten(entry) ? this.forms.bytes : this.#bytes;
  }

  startOf(entry: number): number {
    return this.#cells[entry * COLUMNS + START]!;
  }

  lengthOf(entry: number): number {
    return this.#cells[entry * COLUMNS + LENGTH]!;
  }

  #rankOf(entry: number): number {
    return rankOf(this.priorityOf(entry), this.isAllow(entry), this.#traits);
  }

  /** Whether `entry` takes precedence over `other` if both match. */
  beats(entry: number, other: number): boolean {
    const more = this.#rankOf(entry) - this.#rankOf(other);
    return more === 0 ? this.offsetOf(entry) < this.offsetOf(other) : more > 0;
  }

  /** All entries, or all wild ones, best first. Sorts one number per entry, which is faster than to compare entries. */
  bestFirst(wildOnly: boolean): number[] {
    const keys = new Float64Array(this.count);
    let length = 0;
    for (let entry = 0; entry < this.count; entry++) {
      if (wildOnly && !this.isWild(entry)) continue;
      keys[length++] = -(this.#rankOf(entry) * MAX_ENTRIES + (MAX_ENTRIES - 1 - entry));
    }
    const order: number[] = [];
    for (const key of keys.subarray(0, length).sort()) order.push(MAX_ENTRIES - 1 - (-key % MAX_ENTRIES));
    return order;
  }
}
