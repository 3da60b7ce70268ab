import { DEFAULT_MAX_BODY_BYTES, isWithinEditDistance } from '../../base/index.ts';
import { productToken } from '../agent.ts';
import { agentNames } from '../describe.ts';
import { dialects, type DialectTraits } from '../dialect.ts';
import type { RobotsFile } from '../file.ts';
import { GroupWalk } from '../group-walk.ts';
import {
  LINE_ALLOW,
  LINE_BLANK,
  LINE_DISALLOW,
  LINE_JUNK,
  LINE_OTHER,
  LINE_SITEMAP,
  LINE_USER_AGENT,
  type LineCursor,
} from '../parse-line.ts';
import { asCharacters, BLANK, CONTROL, DOLLAR, fromUtf8, secondsToMs, SLASH, STAR, utf8 } from '../bytes.ts';
import { recordsFor } from '../other-records.ts';
import { GroupLint } from './lint-groups.ts';
import { type Diagnostic, Report, type Span } from './diagnostic.ts';
import { rewrittenInUrls } from './rewritten-in-urls.ts';

/** Keys that misspellings are compared with. */
const KEYS: readonly string[] = ['user-agent', 'allow', 'disallow', 'sitemap', 'crawl-delay'];

const MEANT = KEYS.map((meant) => ({ meant }));

/** The key that `word` (lower case) is, or is one edit away from; two edits for long keys. */
function nearestKey(word: string): string | undefined {
  return KEYS.find((key) => isWithinEditDistance(word, key, key.length > 5 ? 2 : 1));
}

/** A key without effect, or the first word of a line without one. */
interface ReadKey {
  readonly text: string;
  readonly kind: number;
  /** In lower case. */
  readonly word: string;
  /** The key that it probably stands for. */
  readonly meant: string | undefined;
  /** Whether it is one of {@link AGENT_RECORDS}, or of {@link SIGNALS}. */
  readonly isForAgents: boolean;
  readonly isSignal: boolean;
}

function keyOf(text: string, kind: number): ReadKey {
  const word = (kind === LINE_JUNK ? text.split(/[ \t]/, 1)[0]! : text).toLowerCase();
  const isForAgents = AGENT_RECORDS.test(word);
  return { text, kind, word, meant: nearestKey(word), isForAgents, isSignal: SIGNALS.includes(word) };
}

export interface LintOptions {
  /** Bytes that crawlers read. Lines after them are lost. Default 512,000 (500 KiB). */
  readonly maxBodyBytes?: number;
}

const CR = 0x0d;
const LF = 0x0a;
const HASH = 0x23;
const LESS_THAN = 0x3c;
const TOP: Span = { line: 1, column: 1, start: 0, end: 0 };
/** In the order of the kinds of lines, starting with `user-agent`. */
const KEY_BYTES = KEYS.map((key) => utf8.encode(key));
/** RFC 9309 §2.2.1: "only uppercase and lowercase letters ("a-z" and "A-Z"), underscores ("_"), and hyphens ("-")". */
const TOKEN_OR_STAR = /^(?:[A-Za-z_-]+|\*)$/;
const MAX_AGENTS_SHOWN = 10;
/**
 * Records for the agents of a block. Outside any block they apply to no agent. (`License` and `Content-Signal` apply to
 * all agents there.)
 */
const AGENT_RECORDS = /^(?:crawl-delay|request-rate|visit-time|content-usage)$/;
const SIGNALS: readonly string[] = ['content-signal', 'content-signals'];

/**
 * Finds problems in a file. Diagnostics are sorted by line and column, at most 100 of a code; the last of a code has
 * the number of those `omitted`. Each directive outside RFC 9309 is reported once.
 *
 * The time is linear in the bytes of the file.
 *
 * @example
 * ```ts
 * lint(parseRobots('User-agent: *\nDissalow: /private'));
 * // [{ code: 'forgiven-key', severity: 'warning', line: 2, column: 1, text: 'Dissalow', meant: 'disallow' }]
 * ```
 */
export function lint(
  file: RobotsFile,
  { maxBodyBytes = DEFAULT_MAX_BODY_BYTES }: LintOptions = {},
): readonly Diagnostic[] {
  return new Linter(file).run(maxBodyBytes);
}

class Linter {
  readonly #file: RobotsFile;
  readonly #characters: string;
  readonly #traits: DialectTraits;
  readonly #report: Report;
  readonly #groups: GroupLint;
  readonly #walk: GroupWalk;
  readonly #cursor: LineCursor;
  /** Start of the current line. */
  #start: number;
  /** A line that an author may take for the end of a group: the first since the last user-agent line. */
  #between: { readonly line: number; readonly directive: boolean } | undefined;

  /** Whether a blank line came since the last rule, user-agent line or record. */
  #afterBlank = false;
  /** The first licence that is separated from the user-agent lines of the last group. */
  #apart: Span | undefined;

  /** The keys of `Content-Signal` lines, by line. */
  readonly #signals = new Map<number, Span>();

  /** The last key without effect: such lines often repeat one. */
  #lastKey = keyOf('', LINE_JUNK);

  constructor(file: RobotsFile) {
    this.#file = file;
    this.#characters = asCharacters(file.bytes);
    this.#traits = dialects[file.dialect];
    this.#report = new Report(file.bytes);
    this.#groups = new GroupLint(file, this.#report);
    this.#walk = new GroupWalk(file.bytes, this.#traits);
    this.#cursor = this.#walk.cursor;
    this.#start = this.#cursor.nextStart;
  }

  run(maxBodyBytes: number): readonly Diagnostic[] {
    const { bytes, utf16 } = this.#file;
    const report = this.#report;
    if (this.#start > 0) report.add('byte-order-mark', 'info', TOP);
    if (utf16) report.add('utf-16', this.#traits.transcodesUtf16 ? 'warning' : 'error', TOP);
    const longest = dialects.google.maxLineBytes;
    let invalid = firstInvalidByte(bytes);
    let limit = maxBodyBytes;
    for (; this.#walk.next(); this.#start = this.#cursor.nextStart) {
      const start = this.#start;
      let end = this.#cursor.nextStart - 1;
      if (bytes[end] === LF && bytes[end - 1] === CR) end--;
      if (invalid < end) {
        report.add('invalid-utf-8', 'warning', this.#span(Math.max(invalid, start), end));
        invalid = bytes.length;
      }
      if (end > limit && end > start) {
        report.add('past-size-limit', 'error', this.#span(start, end));
        limit = bytes.length;
      }
      if (end - start > longest) {
        const cut = this.#traits.maxLineBytes === longest;
        report.add('line-too-long', cut ? 'error' : 'warning', this.#span(start + longest, end));
      }
      if (this.#cursor.kind >= LINE_USER_AGENT) this.#controlByte(end);
      this.#line();
    }
    if (this.#apart !== undefined && !this.#groups.isForAll) {
      const { line: otherLine } = this.#groups.last.agentLine;
      report.add('license-in-last-group', 'warning', this.#apart, { otherLine });
    }
    if (this.#signals.size > 0) {
      for (const { line } of recordsFor(this.#file, '*', SIGNALS).apart) {
        const span = this.#signals.get(line);
        if (span !== undefined) report.add('origin-wide-signal', 'info', span);
      }
    }
    this.#groups.finish();
    return report.diagnostics;
  }

  #line(): void {
    const { kind, line, keyStart, keyEnd, valueStart, valueEnd, missingColon } = this.#cursor;
    if (kind === LINE_JUNK || kind === LINE_OTHER) this.#otherLine();
    else if (kind >= LINE_USER_AGENT) {
      const known = kind - LINE_USER_AGENT;
      const forgiven = !this.#cursor.keyIs(KEY_BYTES[known]!);
      const more = MEANT[known]!;
      if (forgiven) this.#report.add('forgiven-key', 'warning', this.#span(keyStart, keyEnd), more);
      if (missingColon) this.#report.add('missing-colon', 'warning', this.#span(keyStart, keyEnd), more);
    }
    if (kind === LINE_USER_AGENT) this.#agentLine(this.#span(valueStart, valueEnd));
    else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      this.#ruleLine(this.#span(valueStart, valueEnd), kind === LINE_ALLOW);
    } else if (
      kind === LINE_SITEMAP &&
      !/^https?:\/\/./i.test(this.#characters.slice(valueStart, valueStart + 9))
    ) {
      this.#report.add('relative-sitemap', 'warning', this.#span(valueStart, valueEnd));
    } else if (kind === LINE_BLANK) this.#between ??= { line, directive: false };
    if (kind === LINE_BLANK) this.#afterBlank = true;
    else if (kind >= LINE_USER_AGENT && kind !== LINE_SITEMAP) this.#afterBlank = false;
  }

  /** Handles a line with a key that affects no decision, or without a key. */
  #otherLine(): void {
    const { bytes } = this.#file;
    const { kind, line, keyStart, keyEnd, valueStart, valueEnd, missingColon } = this.#cursor;
    const report = this.#report;
    const key = this.#span(keyStart, keyEnd);
    const text = this.#characters.slice(keyStart, Math.min(keyEnd, keyStart + 50));
    if (text !== this.#lastKey.text || kind !== this.#lastKey.kind) this.#lastKey = keyOf(text, kind);
    const { word, meant, isForAgents, isSignal } = this.#lastKey;
    const whole = valueEnd > keyEnd ? this.#span(keyStart, valueEnd) : key;
    if (bytes[keyStart] === LESS_THAN) report.add('html', 'error', whole, undefined, ' ');
    else if (kind === LINE_JUNK || missingColon) {
      if (meant === undefined) report.add('unreadable-line', 'warning', whole);
      else report.add('missing-colon', 'error', key, { meant });
    } else if (meant === undefined || meant === word) {
      report.add('unsupported-directive', 'info', key, undefined, word);
    } else report.add('misspelt-key', 'error', key, { meant });
    if (kind === LINE_JUNK || missingColon) return;
    const isInBlock = this.#walk.block >= 0;
    if (!isInBlock && isForAgents) report.add('record-outside-group', 'warning', key);
    if (isSignal) this.#signals.set(line, key);
    if (isInBlock && word === 'license' && this.#afterBlank) {
      this.#apart ??= this.#span(valueStart, valueEnd);
    }
    if (word === 'crawl-delay' && secondsToMs(bytes, valueStart, valueEnd) < 0) {
      report.add('invalid-crawl-delay', 'warning', this.#span(valueStart, valueEnd));
    }
    if (this.#between?.directive !== true) this.#between = { line, directive: true };
  }

  /** Reports the first control byte of the value, on a line that ends at `lineEnd`. */
  #controlByte(lineEnd: number): void {
    const { bytes } = this.#file;
    const { valueStart } = this.#cursor;
    let at = valueStart;
    while (at < lineEnd && CONTROL[bytes[at]!] === 0 && bytes[at] !== HASH) at++;
    if (at === lineEnd || bytes[at] === HASH) return;
    let end = at;
    while (end < lineEnd && bytes[end] !== HASH) end++;
    while (end > at && BLANK[bytes[end - 1]!] === 1) end--;
    if (end === at) return;
    const { controlEndsValue, nulEndsLine } = this.#traits;
    const endsHere = controlEndsValue || (nulEndsLine && bytes[at] === 0);
    const isVoid = controlEndsValue && this.#cursor.kind === LINE_ALLOW;
    const span = this.#span(at, end);
    this.#report.add('control-byte', endsHere ? 'error' : 'warning', span, isVoid ? { meant: '' } : {});
  }

  #agentLine(value: Span): void {
    const report = this.#report;
    this.#apart = undefined;
    if (this.#walk.startsGroup) this.#groups.start(value);
    else if (this.#between !== undefined) {
      const { directive, line: otherLine } = this.#between;
      if (directive) report.add('directive-between-agents', 'warning', value, { otherLine });
      else report.add('blank-line-between-agents', 'info', value, { otherLine });
    }
    this.#between = undefined;
    const written = this.#characters.slice(value.start, value.end);
    if (TOKEN_OR_STAR.test(written)) {
      this.#groups.addAgent(written, value);
      return;
    }
    const names = agentNames(written, this.#traits);
    if (names.length === 1 && names[0] === written) {
      report.add('agent-not-token', 'info', value, { meant: written });
    } else {
      const meant = names.slice(0, MAX_AGENTS_SHOWN).join(', ');
      report.add('agent-not-token', meant === '' ? 'error' : 'warning', value, { meant });
      const agent = ignoredName(written, names);
      if (agent !== undefined) report.add('ignored-name', 'warning', value, { agent, meant });
    }
    for (const name of names) this.#groups.addAgent(name, value);
  }

  #ruleLine(value: Span, allow: boolean): void {
    const { bytes } = this.#file;
    const { start, end } = value;
    const { wildcards } = this.#traits;
    const report = this.#report;
    if (this.#walk.group < 0) {
      report.add('rule-outside-group', 'error', value);
      return;
    }
    const group = this.#groups.last;
    group.ruleLines++;
    if (start === end) {
      group.voidLines++;
      group.voidRule ??= value;
      return;
    }
    if (bytes[start] !== SLASH && !(wildcards && bytes[start] === STAR)) {
      report.add('rule-never-matches', 'error', value);
      return;
    }
    const anchor = bytes[end - 1] === DOLLAR ? 1 : 0;
    if (!wildcards) {
      if (anchor === 1 || bytes.subarray(start, end).includes(STAR)) {
        report.add('literal-wildcard', 'warning', value);
      }
    } else if (bytes[end - 1 - anchor] === STAR && end - start > 1)
      report.add('trailing-star', 'info', value);
    for (const { at, written, meant } of rewrittenInUrls(this.#characters.slice(start, end), this.#traits)) {
      const piece = this.#span(start + at, start + at + written.length);
      if (meant === undefined) report.add('bracket', 'info', piece);
      else report.add('rewritten-in-urls', 'warning', piece, { meant });
    }
    this.#groups.addRule(value, allow);
  }

  #span(start: number, end: number): Span {
    return { line: this.#cursor.line, column: start - this.#start + 1, start, end };
  }
}

/** A version, or a comment in brackets. */
const USER_AGENT_STRING = /\/\d|\(/;
/** A second name in an item of a list, after white space or a separator. */
const FURTHER_NAME = /^[^\s;,|]+[\s;,|]+([A-Za-z][\w.-]*)/;

/** A name in the value of a user-agent line that is not among the `names` read from it. */
function ignoredName(value: string, names: readonly string[]): string | undefined {
  const found = USER_AGENT_STRING.test(value)
    ? [productToken(value)]
    : value.split(',').map((item) => FURTHER_NAME.exec(item.trim())?.[1]);
  const known = new Set(names.map((name) => name.toLowerCase()));
  return found.find((name) => name !== undefined && !known.has(name.toLowerCase()));
}

/** Bytes checked at a time, so that a file that is not UTF-8 is not decoded as a whole. */
const CHECKED_BYTES = 8_192;

/** The offset of the first byte that is not valid UTF-8; the length if all are. */
function firstInvalidByte(bytes: Uint8Array): number {
  for (let start = 0, end = 0; start < bytes.length; start = end) {
    // No character contains a line feed.
    end = bytes.indexOf(LF, start + CHECKED_BYTES) + 1;
    if (end === 0) end = bytes.length;
    const invalid = start + firstInvalidOf(bytes.subarray(start, end));
    if (invalid < end) return invalid;
  }
  return bytes.length;
}

function firstInvalidOf(bytes: Uint8Array): number {
  // Each invalid sequence becomes U+FFFD, whose three bytes are never fewer.
  const repaired = utf8.encode(fromUtf8.decode(bytes));
  let at = 0;
  while (at < repaired.length && repaired[at] === bytes[at]) at++;
  // The first bytes of U+FFFD may equal those of the file.
  while ((repaired[at]! & 0xc0) === 0x80) at--;
  return at;
}
