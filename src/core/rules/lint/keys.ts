import { isWithinEditDistance } from '../../base/index.ts';
import { asCharacters, utf8 } from '../bytes.ts';
import { LINE_JUNK } from '../parse-line.ts';
import type { UsageDirective } from '../usage/usage-source.ts';
import type { Diagnostic } from './diagnostic.ts';

/** In the order of the kinds of lines, starting with `user-agent`. */
export const KEYS: readonly string[] = ['user-agent', 'allow', 'disallow', 'sitemap'];
const NEAR_KEYS: readonly string[] = [...KEYS, 'crawl-delay'];

/** A record outside RFC 9309. Each counts where it is read, also without a colon. */
interface KnownRecord {
  readonly isRead: boolean;
  /** It is for the agents above it: outside any block it applies to none. */
  readonly isForAgents: boolean;
  readonly preference?: UsageDirective;
}

const RECORDS: ReadonlyMap<string, KnownRecord> = new Map([
  ['crawl-delay', { isRead: true, isForAgents: true }],
  ['request-rate', { isRead: true, isForAgents: true }],
  ['visit-time', { isRead: false, isForAgents: true }],
  ['content-usage', { isRead: true, isForAgents: true, preference: 'content-usage' }],
  ['content-signal', { isRead: true, isForAgents: false, preference: 'content-signal' }],
  ['content-signals', { isRead: true, isForAgents: false, preference: 'content-signal' }],
  ['license', { isRead: true, isForAgents: false }],
]);

/** The longest key, and two more. */
const MAX_KEY = 13;

const bytesOf = (text: string): string => asCharacters(utf8.encode(text));

/** Characters that look like a space or like nothing, as bytes: NBSP and other spaces, marks, zero-width characters. */
export const INVISIBLE: RegExp = new RegExp(
  [
    ...'\u0085\u00a0\u00ad\u1680\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u202f\u205f\u2060\u2061\u2062\u2063\u2064\u3000\ufeff',
  ]
    .concat(Array.from({ length: 16 }, (_, index) => String.fromCharCode(0x2000 + index)))
    .map(bytesOf)
    .join('|'),
  'g',
);
const FULL_WIDTH_COLON = bytesOf('：');
/** `1. `, `- `, `• `: what lists have in front of their items. */
const LIST_MARK = new RegExp(`^(?:\\d+[.)]|[-*+]|${bytesOf('•')})\\s*`);

/** A key without effect, or the first word of a line without one. */
export interface ReadKey {
  readonly text: string;
  readonly kind: number;
  /** In lower case, as it is read. */
  readonly word: string;
  /** The key that it probably stands for. */
  readonly meant: string | undefined;
  /** Whether the word before a blank is that key: the colon was left out. */
  readonly lacksColon: boolean;
  readonly record: KnownRecord | undefined;
}

export function keyOf(text: string, kind: number): ReadKey {
  const word = text.toLowerCase();
  // A full-width colon is none.
  const visible = word
    .replaceAll(FULL_WIDTH_COLON, ' ')
    .replaceAll(INVISIBLE, ' ')
    .trim()
    .replace(LIST_MARK, '');
  const [first = ''] = visible.split(/[ \t]/, 1);
  const lacksColon = kind === LINE_JUNK || (first !== visible && NEAR_KEYS.includes(first));
  const meant = nearestKey(lacksColon ? first : visible);
  return { text, kind, word, meant, lacksColon, record: RECORDS.get(word) };
}

/** The key that `word` (lower case) is, or is one edit away from; two edits for long keys. */
function nearestKey(word: string): string | undefined {
  // No more than two characters of a misspelt key are none of a key.
  if (word.length > MAX_KEY || word.replaceAll(/[a-z-]/g, '').length > 2) return undefined;
  if (word === 'allowed' || word === 'allows') return 'allow';
  return NEAR_KEYS.find((key) => isWithinEditDistance(word, key, key.length > 5 ? 2 : 1));
}

/** RFC 9309 §2.2.1: "only uppercase and lowercase letters ("a-z" and "A-Z"), underscores ("_"), and hyphens ("-")". */
export const TOKEN_OR_STAR: RegExp = /^(?:[A-Za-z_-]+|\*)$/;
const MAX_NAMES_SHOWN = 10;
/** Longer lists are not compared with what is read of them. */
const MAX_LIST = 200;

/** What is wrong with the value of a user-agent line that is no product token, and is read as these names. */
export function agentLineProblem(written: string, names: readonly string[]): Partial<Diagnostic> {
  const meant = names.slice(0, MAX_NAMES_SHOWN).join(', ');
  if (names.length === 1 && names[0] === written) return { severity: 'info', meant };
  if (names.length === 0) return { severity: 'error', meant };
  const isList =
    names.length > 1 && written.length <= MAX_LIST && names.join() === written.replaceAll(/\s*,\s*/g, ',');
  return isList ? { meant, kind: 'list' } : { meant };
}
