import type { DialectTraits } from '../dialect.ts';
import { SLASH } from '../octets.ts';
import { NormalForm } from './normal-form.ts';
import { PatternFacts, readPattern } from './pattern.ts';
import { ALLOW, ANCHORED, FLAG_BITS, FOLDS, REWRITTEN, WILD } from './ruleset.ts';
import { isAt, wildFits } from './search.ts';

/** A table of numbers takes less memory than objects: a file can have 60,000 rules. */
const COLUMNS = 8;
/** More rules than a file can have. Small enough that a priority and an entry together fit a number exactly. */
const MAX_ENTRIES = 2 ** 24;
/** The rank of all rules where the first one decides. It is above those that lines of usual length can have. */
const MAX_RANK = 2 ** 26;
const MAX_KEPT_CELLS = 8_192;
const OFFSET = 0;
const FACTS = 1;
const LITERAL_LENGTH = 2;
const PRIORITY = 3;
const BYTE_MASKS = 4;
/** The offset of the normal form in the file, or in `forms` if REWRITTEN. */
const TEXT = 5;
/** The length of the normal form in octets; for literal rules without trailing wildcards. */
const TEXT_LENGTH = 6;
/** The line of the file. */
const LINE = 7;

/*
 * The table holds the rules of one agent while they are read, compiled, or tried once. All files reuse the one table,
 * so that reading a file leaves no garbage.
 */
/** The number of rules in the table. */
export let ruleCount = 0;
/** The normal forms of all rewritten rules, concatenated. */
export const forms: NormalForm = new NormalForm();
let cells = new Int32Array(64 * COLUMNS);
let bytes: Uint8Array = new Uint8Array(0);
let byOrder = false;
const facts = new PatternFacts();

/** Empties the table, before rules of `file` are added. What a large file needed is not kept for small ones. */
export function startTable(file: Uint8Array, traits: DialectTraits): void {
  if (cells.length > MAX_KEPT_CELLS) cells = new Int32Array(64 * COLUMNS);
  if (forms.octets.length > MAX_KEPT_CELLS) forms.octets = new Uint8Array(1024);
  bytes = file;
  byOrder = traits.decides === 'first';
  ruleCount = forms.length = 0;
}

/**
 * Adds the pattern `source[start, end)`. Skips it when it does not start with a slash or a wildcard: every target
 * starts with a slash. `offset` and `written` are the offset and length of the rule's pattern in the file. They differ
 * from `start` and `end - start` only when the pattern was derived from the one in the file.
 */
export function addRule(
  source: Uint8Array,
  start: number,
  end: number,
  offset: number,
  written: number,
  line: number,
  allow: boolean,
  traits: DialectTraits,
): void {
  const from = forms.length;
  readPattern(source, start, end, traits, facts, forms);
  if (facts.literalLength > 0 && (facts.inPlace ? source[start] : forms.octets[from]) !== SLASH) {
    forms.length = from;
    return;
  }
  const rewritten = !facts.inPlace || source !== bytes;
  if (facts.inPlace && rewritten) {
    // A derived pattern ends with the anchor.
    for (let at = start; at < end - 1; at++) forms.push(source[at]!);
  }
  const at = ruleCount++ * COLUMNS;
  if (at + COLUMNS > cells.length) {
    const grown = new Int32Array(cells.length * 2);
    grown.set(cells);
    cells = grown;
  }
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
  cells[at + BYTE_MASKS] = facts.byteMask;
  cells[at + TEXT] = rewritten ? from : offset;
  cells[at + TEXT_LENGTH] = facts.wild
    ? rewritten
      ? forms.length - from
      : end - start
    : facts.literalLength;
  cells[at + LINE] = line;
}

export const offsetOf = (entry: number): number => cells[entry * COLUMNS + OFFSET]!;
export const factsOf = (entry: number): number => cells[entry * COLUMNS + FACTS]!;
export const literalLengthOf = (entry: number): number => cells[entry * COLUMNS + LITERAL_LENGTH]!;
export const priorityOf = (entry: number): number => cells[entry * COLUMNS + PRIORITY]!;
export const byteMaskOf = (entry: number): number => cells[entry * COLUMNS + BYTE_MASKS]!;
export const textOf = (entry: number): number => cells[entry * COLUMNS + TEXT]!;
export const textLengthOf = (entry: number): number => cells[entry * COLUMNS + TEXT_LENGTH]!;

export const lineOf = (entry: number): number => cells[entry * COLUMNS + LINE]!;

/** The array that holds the normal form of `entry`. */
export const octetsOf = (entry: number): Uint8Array =>
  (factsOf(entry) & REWRITTEN) === 0 ? bytes : forms.octets;

/** The rule of the greater rank takes precedence; of equal ones, the first in the file. */
export const rankOf = (entry: number): number =>
  byOrder ? MAX_RANK : priorityOf(entry) * 2 + (factsOf(entry) & ALLOW);

/** Negative when `a` takes precedence over `b` where both fit: the order of {@link Ruleset}. */
export function comparePrecedence(a: number, b: number): number {
  return rankOf(b) - rankOf(a) || offsetOf(a) - offsetOf(b);
}

/** All entries, or all wild ones, best first. Sorts one number per entry, which is faster than to compare entries. */
export function bestFirst(wildOnly: boolean): number[] {
  const keys = new Float64Array(ruleCount);
  let length = 0;
  for (let entry = 0; entry < ruleCount; entry++) {
    if (wildOnly && (factsOf(entry) & WILD) === 0) continue;
    keys[length++] = -(rankOf(entry) * MAX_ENTRIES + (MAX_ENTRIES - 1 - entry));
  }
  const order: number[] = [];
  for (const key of keys.subarray(0, length).sort()) order.push(MAX_ENTRIES - 1 - (-key % MAX_ENTRIES));
  return order;
}

/** Whether the rule of `entry` fits the target given to `startSearch`, which starts at 0 and ends at `end`. */
export function entryFits(entry: number, end: number): boolean {
  const rule = factsOf(entry);
  const text = octetsOf(entry);
  const from = textOf(entry);
  const size = textLengthOf(entry);
  if ((rule & WILD) !== 0) return wildFits(text, from, size, rule);
  return size <= end && ((rule & ANCHORED) === 0 || size === end) && isAt(0, text, from, from + size);
}
