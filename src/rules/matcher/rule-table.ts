import type { DialectTraits } from '../dialect.ts';
import { DOLLAR, SLASH } from '../octets.ts';
import { NormalForm } from './normal-form.ts';
import { PatternFacts, readPattern } from './pattern.ts';
import { ALLOW, ANCHORED, FLAG_BITS, FOLDS, REWRITTEN, WILD } from './ruleset.ts';
import { wildFits } from './search.ts';

/** A table of numbers takes less memory than objects: a file can have 60,000 rules. */
const COLUMNS = 8;
/** More rules than a file can have. Small enough that a priority and an entry together fit a number exactly. */
const MAX_ENTRIES = 2 ** 24;
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
export let wildCount = 0;
/** The normal forms of all rewritten rules, concatenated. */
export const forms: NormalForm = new NormalForm();
let cells = new Int32Array(64 * COLUMNS);
let bytes: Uint8Array = new Uint8Array(0);
let keys = new Float64Array(128);
let byOrder = false;
const facts = new PatternFacts();

/** Empties the table, before rules of `file` are added. What a large file needed is not kept for small ones. */
export function startTable(file: Uint8Array, traits: DialectTraits): void {
  if (cells.length > MAX_KEPT_CELLS) cells = new Int32Array(64 * COLUMNS);
  if (keys.length > MAX_KEPT_CELLS) keys = new Float64Array(128);
  if (forms.octets.length > MAX_KEPT_CELLS) forms.octets = new Uint8Array(1024);
  bytes = file;
  byOrder = traits.decides === 'first';
  ruleCount = wildCount = forms.length = 0;
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
    const last = source[end - 1] === DOLLAR ? end - 1 : end;
    for (let at = start; at < last; at++) forms.push(source[at]!);
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
  if (facts.wild) wildCount++;
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

/** Negative when `a` takes precedence over `b` where both fit: the order of {@link Ruleset}. */
export function comparePrecedence(a: number, b: number): number {
  if (!byOrder) {
    const more = priorityOf(b) - priorityOf(a);
    if (more !== 0) return more;
    const allow = (factsOf(b) & ALLOW) - (factsOf(a) & ALLOW);
    if (allow !== 0) return allow;
  }
  return offsetOf(a) - offsetOf(b);
}

/** All entries, or all wild ones, best first. Sorts one number per entry, which is faster than to compare entries. */
export function bestFirst(wildOnly: boolean): number[] {
  if (keys.length < ruleCount) keys = new Float64Array(ruleCount * 2);
  let length = 0;
  for (let entry = 0; entry < ruleCount; entry++) {
    if (wildOnly && (factsOf(entry) & WILD) === 0) continue;
    const rank = byOrder ? 0 : priorityOf(entry) * 2 + (factsOf(entry) & ALLOW);
    keys[length++] = -(rank * MAX_ENTRIES + (MAX_ENTRIES - 1 - entry));
  }
  const order: number[] = [];
  for (const key of keys.subarray(0, length).sort()) order.push(MAX_ENTRIES - 1 - (-key % MAX_ENTRIES));
  return order;
}

/** Whether the rule of `entry` fits `octets[start, end)`, the target given to `startSearch`. */
export function entryFits(entry: number, octets: Uint8Array, start: number, end: number): boolean {
  const rule = factsOf(entry);
  const text = octetsOf(entry);
  const from = textOf(entry);
  const size = textLengthOf(entry);
  if ((rule & WILD) !== 0) return wildFits(text, from, size, rule);
  const anchored = (rule & ANCHORED) !== 0;
  if (size > end - start || (anchored && size < end - start)) return false;
  for (let at = 0; at < size; at++) if (text[from + at] !== octets[start + at]) return false;
  return true;
}
