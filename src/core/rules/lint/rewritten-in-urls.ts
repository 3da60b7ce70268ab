import type { DialectTraits } from '../dialect.ts';

/** A piece of a pattern that URL parsers rewrite, so that URLs do not contain it as written. */
interface RewrittenPiece {
  /** Its offset in the pattern. */
  readonly at: number;
  readonly written: string;
  /** The form that URL parsers write; empty when they remove it. Absent for brackets, which they keep. */
  readonly meant?: string;
}

/** The part of a pattern that is certainly in the path: a `*` may match the `?` too. */
const PATH_PART = /^[^*?]*\??/;
/**
 * "." and "..", in any spelling, as a whole segment (URL Standard, path state). A pattern may match beyond its end.
 */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?])/i;
/** "Strip all ASCII tab or newline from input" (URL Standard, basic URL parser). URLs can hold a tab as `%09`. */
const TAB = /\t/;
/** For special schemes equal to a slash (URL Standard, path state). URLs can hold a backslash as `%5C`. */
const BACKSLASH = /\\/;
/** The characters of the query percent-encode set that a line can contain. They are escaped in paths as well. */
const ESCAPED = /[ "<>]/;
/** What every such piece has. Most patterns have none of it. */
const ANY_OF_THEM = /[\\\t "<>[\]]|\/(?:\.|%2e)|%5[bd]/i;
const BRACKET = /[[\]]|%5[bd]/i;

/**
 * The pieces of a pattern that URL parsers rewrite: the first of each kind.
 *
 * Dialects that compare a normal form read a raw byte and its escape as equal, so that a pattern with a tab, a backslash
 * or one of ` "<>` matches URLs that have it escaped. google/robotstxt takes the target as given: there is no URL with
 * the raw byte.
 */
export function rewrittenInUrls(pattern: string, { escapes }: DialectTraits): RewrittenPiece[] {
  if (!ANY_OF_THEM.test(pattern)) return [];
  const path = PATH_PART.exec(pattern)?.[0] ?? '';
  const found: RewrittenPiece[] = [];
  const look = (text: string, piece: RegExp, meant?: (written: string) => string): void => {
    const match = piece.exec(text);
    if (match === null) return;
    const [written] = match;
    found.push({ at: match.index, written, ...(meant && { meant: meant(written) }) });
  };
  look(path, DOT_SEGMENT, () => '');
  if (escapes === 'google') {
    look(path, BACKSLASH, () => '/');
    look(pattern, TAB, () => '');
    look(pattern, ESCAPED, encodeURIComponent);
  }
  // In dialects that decode both sides a bracket equals its escape.
  if (escapes !== 'decoded') look(pattern, BRACKET);
  return found;
}
