import type { DialectTraits } from '../dialect.ts';
import type { DiagnosticCode } from './diagnostic.ts';

/** A piece of a pattern that does not do what it seems to. */
interface PatternProblem {
  readonly code: DiagnosticCode;
  /** Its range in the pattern. */
  readonly start: number;
  readonly end: number;
  readonly meant?: string;
}

/** Most patterns are like this, and have no problem. */
const PLAIN = /^(?=[/*])(?!\/www\.)(?!\/[\w.-]+\.(?:com|org|net)(?:\/|$))(?:[\w*?=&~-]|[./](?![./]))*$/;

/** The part of a pattern that is certainly in the path: a `*` may match the `?` too. */
const PATH_PART = /^[^*?]*\??/;
/** "." and "..", in any spelling, as a whole segment (URL Standard, path state). A pattern may match beyond its end. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?=[/?])/i;
/** "Strip all ASCII tab or newline from input" (URL Standard, basic URL parser). URLs can hold a tab as `%09`. */
const TAB = /\t/;
/** For special schemes equal to a slash (URL Standard, path state). URLs can hold a backslash as `%5C`. */
const BACKSLASH = /\\/;
/** The characters of the query percent-encode set that a line can contain. They are escaped in paths as well. */
const ESCAPED = /["<>]/;
const BLANK = / /;
const BRACKET = /[[\]]|%5[bd]/i;

/** Longer patterns are not searched for what takes more than linear time. */
const MAX_SEARCHED = 200;
const ALL_OF_IT = /^.*$/s;
/** "The matching MUST start with the first byte of the path" (RFC 9309 §2.2.2): that is a slash. */
const STARTS = /^[/*]/;
const STARTS_LITERALLY = /^\//;
const HOST =
  /^\/+(?:https?:\/\/|www\.)|^\/\/[\w-]+(?:\.[\w-]+)+|^\/[\w-]+(?:\.[\w-]+)*\.(?:com|org|net)(?:\/|$)/i;
const RAW_LETTER = /[^\0-\x7f]/;

/**
 * What is wrong with the pattern of a rule, given as bytes in characters: the first piece of each kind.
 *
 * Dialects that compare a normal form read a raw byte and its escape as equal, so that a pattern with a tab, a backslash
 * or one of ` "<>` matches URLs that have it escaped. google/robotstxt takes the target as given: there is no URL with
 * the raw byte.
 */
export function patternProblems(
  pattern: string,
  { escapes, wildcards }: DialectTraits,
): readonly PatternProblem[] {
  if (PLAIN.test(pattern) && (wildcards || !pattern.startsWith('*'))) return [];
  const found: PatternProblem[] = [];
  const add = (
    code: DiagnosticCode,
    text: string,
    piece: RegExp,
    more?: Partial<PatternProblem>,
  ): boolean => {
    const match = piece.exec(text);
    if (match === null) return false;
    found.push({ code, start: match.index, end: match.index + match[0].length, ...more });
    return true;
  };
  if (!(wildcards ? STARTS : STARTS_LITERALLY).test(pattern)) {
    add('rule-never-matches', pattern, ALL_OF_IT);
    return found;
  }
  const hasBlank = BLANK.test(pattern);
  if (hasBlank) add('blank-in-path', pattern, ALL_OF_IT);
  if (pattern.length <= MAX_SEARCHED && HOST.test(pattern)) add('host-in-path', pattern, ALL_OF_IT);
  if (RAW_LETTER.test(pattern)) add('raw-letters', pattern, ALL_OF_IT);
  const rewritten = (text: string, piece: RegExp, meant: (written: string) => string): boolean =>
    add('rewritten-in-urls', text, piece, { meant: meant(piece.exec(text)?.[0] ?? '') });
  const path = PATH_PART.exec(pattern)?.[0] ?? '';
  rewritten(path, DOT_SEGMENT, () => '');
  if (escapes === 'google' && !hasBlank) {
    rewritten(path, BACKSLASH, () => '/');
    rewritten(pattern, TAB, () => '');
    rewritten(pattern, ESCAPED, encodeURIComponent);
  }
  // In dialects that decode both sides a bracket equals its escape.
  if (escapes !== 'decoded') add('bracket', pattern, BRACKET);
  return found;
}
