import type { DialectTraits } from '../dialect.ts';

/** A piece of a pattern that URLs, as parsers write them, have otherwise. */
interface RewrittenPiece {
  /** Where it stands in the pattern. */
  readonly at: number;
  readonly written: string;
  /** How parsers write it; empty when they take it out. Absent for brackets, which they leave as they are. */
  readonly meant?: string;
}

/** Where a path surely still is the path: a `*` may stand for the `?` too. */
const SURELY_PATH = /^[^*?]*\??/;
/** "." and "..", in any spelling, as a whole segment (URL Standard, path state). A pattern may go on behind its end. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?])/i;
/** "Strip all ASCII tab or newline from input" (URL Standard, basic URL parser). */
const TAB = /\t/;
/** For special schemes the same as a slash (URL Standard, path state). */
const BACKSLASH = /\\/;
/** Of the query percent-encode set what a line can hold: it is escaped in paths as well. */
const ESCAPED = /[ "<>]/;
const BRACKET = /[[\]]|%5[bd]/i;

/**
 * What of a pattern is otherwise in URLs: the first piece of each kind.
 *
 * The dialects that compare by octets of their normal form read raw and escaped ` "<>` alike; google/robotstxt takes
 * the target as given, where a parser has escaped them.
 */
export function rewrittenInUrls(pattern: string, { escapes }: DialectTraits): RewrittenPiece[] {
  const path = SURELY_PATH.exec(pattern)?.[0] ?? '';
  const found: RewrittenPiece[] = [];
  const look = (text: string, piece: RegExp, meant?: (written: string) => string): void => {
    const match = piece.exec(text);
    if (match === null) return;
    const [written] = match;
    found.push({ at: match.index, written, ...(meant && { meant: meant(written) }) });
  };
  look(path, BACKSLASH, () => '/');
  look(path, DOT_SEGMENT, () => '');
  look(pattern, TAB, () => '');
  if (escapes === 'google') look(pattern, ESCAPED, encodeURIComponent);
  // Where both sides are decoded a bracket equals its escape.
  if (escapes !== 'decoded') look(pattern, BRACKET);
  return found;
}
