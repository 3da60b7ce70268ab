import { assertKnownOptions, DEFAULT_MAX_BODY_BYTES, invalid } from '../../base/index.ts';
import { agentNames } from '../describe.ts';
import { dialects, type DialectTraits } from '../dialect.ts';
import { assertRobotsFile, type RobotsFile } from '../file.ts';
import {
  GroupWalk,
  LINE_ALLOW,
  LINE_BLANK,
  LINE_COMMENT,
  LINE_DISALLOW,
  LINE_JUNK,
  LINE_OTHER,
  LINE_SITEMAP,
  LINE_USER_AGENT,
  type LineCursor,
} from '../parse-line.ts';
import { asCharacters, BLANK, CONTROL, escapeBytes, firstInvalidByte, secondsToMs, utf8 } from '../bytes.ts';
import { recordsFor } from '../other-records.ts';
import {
  ABSOLUTE_URL,
  betterPreference,
  statesPreference,
  type UsageDirective,
} from '../usage/usage-source.ts';
import { agentLineProblem, INVISIBLE, keyOf, KEYS, type ReadKey, TOKEN_OR_STAR } from './keys.ts';
import { type Diagnostic, Report, type Span } from './diagnostic.ts';
import { GroupLint } from './groups.ts';
import { patternProblems } from './patterns.ts';

export interface LintOptions {
  /** Bytes that crawlers read. Lines after them are lost. Default 512,000 (500 KiB). */
  readonly maxBodyBytes?: number;
}

const CR = 0x0d;
const LF = 0x0a;
const HASH = 0x23;
const TOP: Span = { line: 1, column: 1, start: 0, end: 0 };
const KEY_BYTES = KEYS.map((key) => utf8.encode(key));
const MEANT = KEYS.map((meant) => ({ meant }));
const SIGNALS: readonly string[] = ['content-signal', 'content-signals'];
/** Bytes of a pattern that are shown as they should be written. */
const MAX_ESCAPED = 200;
/** Preferences beyond these are not looked at, and taken for readable ones. */
const MAX_PREFERENCES = 1_000;

/**
 * Finds problems in a file. What the file comes to is first, then all else by line and column, at most 100 of a code; the
 * last of a code has the number of those `omitted`. Each directive outside RFC 9309 is reported once.
 *
 * The time is linear in the bytes of the file.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for anything but a file of `parseRobots`, and for an
 * unknown option.
 *
 * @example
 * ```ts
 * lint(parseRobots('User-agent: *\nDissalow: /private'));
 * // [{ code: 'forgiven-key', severity: 'warning', line: 2, column: 1, text: 'Dissalow', meant: 'disallow' }]
 * ```
 */
export function lint(file: RobotsFile, options: LintOptions = {}): readonly Diagnostic[] {
  assertRobotsFile(file, 'lint');
  assertKnownOptions(options, ['maxBodyBytes']);
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES } = options;
  if (typeof maxBodyBytes !== 'number') throw invalid('`maxBodyBytes`', 'a number of bytes', maxBodyBytes);
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
  #between: { readonly line: number; readonly directive: string } | undefined;
  /** Whether a blank line came since the last rule, user-agent line or record. */
  #afterBlank = false;
  /** The first licence that is separated from the user-agent lines of the last group. */
  #apart: Span | undefined;
  /** The keys of `Content-Signal` lines, by line. */
  readonly #signals = new Map<number, Span>();
  /** The last key without effect: such lines often repeat one. */
  #lastKey = keyOf('', LINE_JUNK);
  /** The first line with text, and whether some line has an effect. */
  #firstText: Span | undefined;
  #hasEffect = false;
  #preferences = 0;
  /** Whether this line has an invisible character. */
  #hasInvisible = false;
  /** Where the next invisible character is. */
  #invisible = -1;

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
    if (utf16) report.add('utf-16', TOP, this.#traits.transcodesUtf16 ? { severity: 'warning' } : {});
    const longest = dialects.google.maxLineBytes;
    const isAscii = !/[^\0-\x7f]/.test(this.#characters);
    let invalid = isAscii ? bytes.length : firstInvalidByte(bytes);
    if (isAscii) this.#invisible = bytes.length;
    let limit = maxBodyBytes;
    const walk = this.#walk;
    const cursor = this.#cursor;
    for (; walk.next(); this.#start = cursor.nextStart) {
      const start = this.#start;
      let end = cursor.nextStart - 1;
      if (bytes[end] === LF && bytes[end - 1] === CR) end--;
      if (invalid < end) {
        report.add('invalid-utf-8', this.#span(Math.max(invalid, start), end));
        invalid = bytes.length;
      }
      if (end > limit && end > start) {
        report.add('past-size-limit', this.#span(start, end));
        limit = bytes.length;
      }
      if (end - start > longest) {
        const severity = this.#traits.maxLineBytes === longest ? 'error' : 'warning';
        report.add('line-too-long', this.#span(start + longest, end), { severity });
      }
      const { kind } = cursor;
      if (kind === LINE_COMMENT) continue;
      if (kind === LINE_BLANK) {
        this.#between ??= { line: cursor.line, directive: '' };
        this.#afterBlank = true;
        continue;
      }
      if (kind >= LINE_USER_AGENT) this.#controlByte(end);
      this.#firstText ??= this.#span(cursor.keyStart, end);
      this.#line(end);
    }
    if (this.#firstText !== undefined && this.#isPage()) {
      // One diagnostic, not one for each line.
      const page = new Report(bytes);
      page.add('html', this.#firstText);
      return page.diagnostics;
    }
    if (this.#firstText !== undefined && !this.#hasEffect) report.add('nothing-in-effect', this.#firstText);
    if (this.#apart !== undefined && !this.#groups.isForAll) {
      const { line: otherLine } = this.#groups.last.agentLine;
      report.add('license-in-last-group', this.#apart, { otherLine });
    }
    const apart = this.#signals.size === 0 ? [] : recordsFor(this.#file, '*', SIGNALS).apart;
    for (const { line } of apart) {
      const span = this.#signals.get(line);
      if (span !== undefined) report.add('origin-wide-signal', span);
    }
    this.#groups.finish(new Set(apart.map(({ line }) => line)));
    return report.diagnostics;
  }

  /** Whether it is a page instead of a robots.txt. */
  #isPage(): boolean {
    return !this.#groups.hasAgents && this.#characters[this.#firstText?.start ?? -1] === '<';
  }

  #line(end: number): void {
    const { kind, line, keyStart, keyEnd, valueStart, valueEnd, missingColon } = this.#cursor;
    const report = this.#report;
    this.#hasInvisible = false;
    const hides = this.#invisible < end && this.#invisibleCharacter(Math.max(keyEnd, valueEnd));
    if (kind === LINE_JUNK || kind === LINE_OTHER) {
      if (!hides) this.#otherLine();
      else if (kind === LINE_OTHER) this.#between = { line, directive: this.#text(keyStart, keyEnd) };
    } else if (kind >= LINE_USER_AGENT) {
      const known = kind - LINE_USER_AGENT;
      const more = MEANT[known]!;
      if (!this.#cursor.keyIs(KEY_BYTES[known]!))
        report.add('forgiven-key', this.#span(keyStart, keyEnd), more);
      if (missingColon) report.add('missing-colon', this.#span(keyStart, keyEnd), more);
    }
    if (kind === LINE_USER_AGENT) this.#agentLine(this.#span(valueStart, valueEnd));
    else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      this.#ruleLine(this.#span(valueStart, valueEnd), kind === LINE_ALLOW, end);
    } else if (kind === LINE_SITEMAP) this.#sitemapLine(this.#span(valueStart, valueEnd));
    if (kind >= LINE_USER_AGENT && kind !== LINE_SITEMAP) this.#afterBlank = false;
  }

  #text(start: number, end: number): string {
    return this.#characters.slice(start, end);
  }

  /** Reports the first invisible character before `end`. @returns whether it hides the key, so that the line is lost. */
  #invisibleCharacter(end: number): boolean {
    const { kind, keyStart, keyEnd } = this.#cursor;
    let start = this.#invisible;
    if (start < keyStart) {
      INVISIBLE.lastIndex = keyStart;
      start = INVISIBLE.exec(this.#characters)?.index ?? this.#characters.length;
      this.#invisible = start;
    }
    if (start >= end) return false;
    this.#hasInvisible = true;
    INVISIBLE.lastIndex = start;
    const span = this.#span(start, start + (INVISIBLE.exec(this.#characters)?.[0].length ?? 1));
    const isLost = kind === LINE_JUNK || (kind === LINE_OTHER && start < keyEnd);
    const { meant, word } = isLost ? keyOf(this.#text(keyStart, Math.min(keyEnd, keyStart + 50)), kind) : {};
    const isRule = kind === LINE_ALLOW || kind === LINE_DISALLOW;
    if (meant !== undefined) this.#report.add('invisible-character', span, { severity: 'error', meant });
    else if (!isLost) this.#report.add('invisible-character', span, isRule ? { kind: 'path' } : {});
    // The next line looks for the next one.
    this.#invisible = -1;
    return meant !== undefined || word?.replaceAll(INVISIBLE, '').trim() === '';
  }

  #sitemapLine(value: Span): void {
    this.#hasEffect = true;
    if (!/^https?:\/\/./i.test(this.#text(value.start, value.end)))
      this.#report.add('relative-sitemap', value);
  }

  /** Handles a line with a key that affects no decision, or without a key. */
  #otherLine(): void {
    const { kind, line, keyStart, keyEnd, valueEnd, missingColon } = this.#cursor;
    const report = this.#report;
    const key = this.#span(keyStart, keyEnd);
    const text = this.#text(keyStart, Math.min(keyEnd, keyStart + 50));
    if (text !== this.#lastKey.text || kind !== this.#lastKey.kind) this.#lastKey = keyOf(text, kind);
    const { lacksColon, meant, record, word } = this.#lastKey;
    const isRead = kind === LINE_OTHER && record?.isRead === true;
    if (kind === LINE_JUNK || lacksColon || (missingColon && !isRead)) {
      if (meant === undefined)
        report.add('unreadable-line', valueEnd > keyEnd ? this.#span(keyStart, valueEnd) : key);
      else report.add('missing-colon', key, { severity: 'error', meant });
    } else if (missingColon) report.add('missing-colon', key, { meant: word });
    else if (meant === undefined || meant === word) report.add('unsupported-directive', key, undefined, word);
    else report.add('misspelt-key', key, { meant });
    if (kind === LINE_OTHER && (!missingColon || isRead)) this.#record(this.#lastKey, key);
    if (kind === LINE_OTHER && (this.#between === undefined || this.#between.directive === ''))
      this.#between = { line, directive: text };
  }

  /** Handles a record that is read, or that other crawlers may read. */
  #record({ record, word }: ReadKey, key: Span): void {
    const { line, valueStart, valueEnd } = this.#cursor;
    const isInBlock = this.#walk.block >= 0;
    if (record?.isRead === true && (isInBlock || !record.isForAgents)) this.#hasEffect = true;
    if (record?.isForAgents === true && !isInBlock) this.#report.add('record-outside-group', key);
    const preference = record?.preference;
    if (preference === 'content-signal') this.#signals.set(line, key);
    if (preference !== undefined) {
      const states = this.#preference(preference);
      if (isInBlock && states) this.#groups.addPreference(preference, line);
    } else if (word === 'license') this.#license(this.#span(valueStart, valueEnd), isInBlock);
    else if (word === 'crawl-delay' && secondsToMs(this.#file.bytes, valueStart, valueEnd) < 0)
      this.#report.add('invalid-crawl-delay', this.#span(valueStart, valueEnd));
  }

  #license(value: Span, isInBlock: boolean): void {
    if (isInBlock && this.#afterBlank) this.#apart ??= value;
    if (!ABSOLUTE_URL.test(this.#text(value.start, value.end)))
      this.#report.add('unreadable-preference', value, { kind: 'license' });
  }

  /** Reports a malformed preference. @returns whether it states anything. */
  #preference(kind: UsageDirective): boolean {
    if (++this.#preferences > MAX_PREFERENCES) return true;
    const { valueStart, valueEnd } = this.#cursor;
    const value = this.#text(valueStart, valueEnd);
    const start = valueStart + (/^\/[^ \t]*[ \t]*/.exec(value)?.[0].length ?? 0);
    const text = this.#text(start, valueEnd);
    const meant = betterPreference(kind, text);
    if (meant !== undefined)
      this.#report.add('unreadable-preference', this.#span(start, valueEnd), { kind, meant });
    return statesPreference(kind, text);
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
    const severity = controlEndsValue || (nulEndsLine && bytes[at] === 0) ? 'error' : 'warning';
    const isVoid = controlEndsValue && this.#cursor.kind === LINE_ALLOW;
    this.#report.add('control-byte', this.#span(at, end), isVoid ? { severity, meant: '' } : { severity });
  }

  #agentLine(value: Span): void {
    const report = this.#report;
    this.#apart = undefined;
    if (this.#walk.startsGroup) this.#groups.start(value);
    else if (this.#between !== undefined) {
      const { directive, line: otherLine } = this.#between;
      this.#groups.runOn(otherLine, directive);
      if (directive !== '') report.add('directive-between-agents', value, { otherLine });
    }
    if (this.#walk.startsBlock) this.#groups.startBlock();
    this.#between = undefined;
    const written = this.#text(value.start, value.end);
    if (TOKEN_OR_STAR.test(written)) {
      this.#groups.addAgent(written, value);
      return;
    }
    const names = agentNames(written, this.#traits);
    report.add('agent-not-token', value, agentLineProblem(written, names));
    for (const name of names) this.#groups.addAgent(name, value);
  }

  #ruleLine(value: Span, allow: boolean, lineEnd: number): void {
    const { bytes } = this.#file;
    const { start, end } = value;
    const report = this.#report;
    if (this.#walk.group < 0) {
      report.add('rule-outside-group', value);
      return;
    }
    this.#hasEffect = true;
    this.#groups.last.isRuled = true;
    if (start === end) return;
    const pattern = this.#text(start, end);
    if (bytes[end] === HASH) {
      const written = this.#text(start, lineEnd).trimEnd();
      report.add('hash-in-path', this.#span(start, start + written.length), { meant: pattern });
    }
    for (const problem of patternProblems(pattern, this.#traits)) {
      const { code, start: from, end: to, ...more } = problem;
      // Of an invisible character the hint is another one.
      if (code === 'raw-letters' && this.#hasInvisible) continue;
      const isSpelt = code === 'raw-letters' && report.shows(code);
      const meant = isSpelt ? { meant: escapeBytes(pattern.slice(0, MAX_ESCAPED)) } : more;
      report.add(code, this.#span(start + from, start + to), meant);
      if (code === 'rule-never-matches') return;
    }
    this.#groups.addRule(value, allow);
  }

  #span(start: number, end: number): Span {
    return { line: this.#cursor.line, column: start - this.#start + 1, start, end };
  }
}
