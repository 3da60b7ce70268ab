import type { DialectTraits } from '../dialect.ts';
import type { Pattern } from '../normal-form/pattern.ts';
import { asCharacters, DOLLAR, SLASH } from '../bytes.ts';

/** A rule in the file. */
export interface WrittenRule {
  readonly allow: boolean;
  /** Offset of its pattern in the file. */
  readonly offset: number;
  /** Length of its pattern as written, in bytes, including the anchor. */
  readonly writtenLength: number;
  /** 1-based. */
  readonly line: number;
}

/** The rank of all rules where the first one decides. It is above those that lines of usual length can have. */
const MAX_RANK = 2 ** 26;

/**
 * Of the rules that match, the one of the greatest rank decides; of equal ones, the first in the file. "The most specific match …
 * is the match that has the most octets", and of equivalent rules "the allow rule SHOULD be used" (RFC 9309 §2.2.2).
 */
export function rankOf(priority: number, allow: boolean, { decides }: DialectTraits): number {
  return decides === 'first' ? MAX_RANK : priority * 2 + (allow ? 1 : 0);
}

const INDEX_HTM = '/index.htm';

/**
 * Calls `use` for each pattern of the rule at `bytes[start, end)` that may match a target, when `pattern` holds it. There
 * is one, or two by google/robotstxt: "'index.htm' and 'index.html' are normalized to '/'", for allow rules.
 */
export function eachPattern(
  bytes: Uint8Array,
  start: number,
  end: number,
  allow: boolean,
  traits: DialectTraits,
  pattern: Pattern,
  use: () => void,
): void {
  pattern.read(bytes, start, end, traits);
  if (pattern.startsTarget) use();
  if (!allow || !traits.indexHtmlAllowsDirectory) return;
  let slash = end - 1;
  while (slash >= start && bytes[slash] !== SLASH) slash--;
  const pageEnd = slash + INDEX_HTM.length;
  if (slash < start || pageEnd > end || asCharacters(bytes.subarray(slash, pageEnd)) !== INDEX_HTM) return;
  // Not `slice`, which is a view of the same memory where the file is a Buffer.
  const directory = new Uint8Array(bytes.subarray(start, slash + 2));
  directory[slash + 1 - start] = DOLLAR;
  pattern.read(directory, 0, directory.length, traits);
  if (pattern.startsTarget) use();
}
