/**
 * The rules by which a file is read.
 *
 * - `rfc9309`: the standard, with the tolerance it asks for. The default.
 * - `google`: exactly as google/robotstxt.
 * - `koster-1996`: the Internet draft of 1996: records end at a blank line, the first match decides.
 * - `robotstxt-1994`: the robotstxt.org convention: no Allow, agent names match as substrings.
 */
export type Dialect = 'rfc9309' | 'google' | 'koster-1996' | 'robotstxt-1994';

/** The differences between the dialects, as data. Code asks for a trait, never for a dialect's name. */
export interface DialectTraits {
  /** `disallow-x` is read as `disallow`. */
  readonly keysByPrefix: boolean;
  /** Accept the misspelt keys that google/robotstxt accepts, and two words without a colon. */
  readonly lenient: boolean;
  readonly allowIsAKey: boolean;
  /** Whether NUL ends a line. White space around values is SP, TAB, VT and FF in every dialect. */
  readonly nulEndsLine: boolean;
  /** Whether a control byte other than TAB ends the value of a line, and makes an `Allow` void. */
  readonly controlEndsValue: boolean;
  /** Maximum bytes of a line. The rest of a longer line is dropped. */
  readonly maxLineBytes: number;
  /** Skip any leading part of the UTF-8 byte order mark, not only the whole mark. */
  readonly partialByteOrderMark: boolean;
  readonly transcodesUtf16: boolean;
  readonly blankLineEndsRecord: boolean;
  /** The syntax of names on user-agent lines, and their comparison with the caller's. */
  readonly agentNames: 'token-list' | 'token' | 'google';
  readonly agentMatch: 'whole' | 'substring';
  /** The caller's agent: its product token, or the string as given. */
  readonly callerAgent: 'token' | 'as-given';
  readonly wildcards: boolean;
  /** `first`: in file order; `longest`: most bytes, ties go to allow. */
  readonly decides: 'longest' | 'first';
  /** The normal form in which bytes and escapes of patterns and targets are compared. */
  readonly escapes: 'rfc9309' | 'google' | 'decoded';
  readonly targetHasQuery: boolean;
  readonly robotsTxtAlwaysAllowed: boolean;
  /** `Allow: …/index.htm*` also allows the directory itself. */
  readonly indexHtmlAllowsDirectory: boolean;
}

const rfc9309: DialectTraits = {
  keysByPrefix: false,
  lenient: true,
  allowIsAKey: true,
  nulEndsLine: false,
  // RFC 9309 §2.2: values are of `UTF8-char-noctl`, which excludes control characters.
  controlEndsValue: true,
  maxLineBytes: 0x7fff_ffff,
  partialByteOrderMark: false,
  transcodesUtf16: true,
  blankLineEndsRecord: false,
  agentNames: 'token-list',
  agentMatch: 'whole',
  callerAgent: 'token',
  wildcards: true,
  decides: 'longest',
  escapes: 'rfc9309',
  targetHasQuery: true,
  robotsTxtAlwaysAllowed: true,
  indexHtmlAllowsDirectory: false,
};

const koster1996: DialectTraits = {
  ...rfc9309,
  controlEndsValue: false,
  lenient: false,
  blankLineEndsRecord: true,
  agentNames: 'token',
  wildcards: false,
  decides: 'first',
  escapes: 'decoded',
  targetHasQuery: false,
};

export const dialects: Readonly<Record<Dialect, DialectTraits>> = {
  rfc9309,
  google: {
    ...rfc9309,
    keysByPrefix: true,
    nulEndsLine: true,
    controlEndsValue: false,
    // google/robotstxt: 2083 bytes, a browser's limit for URLs, times eight, minus the terminator of a C string.
    maxLineBytes: 2083 * 8 - 1,
    partialByteOrderMark: true,
    transcodesUtf16: false,
    agentNames: 'google',
    callerAgent: 'as-given',
    escapes: 'google',
    robotsTxtAlwaysAllowed: false,
    indexHtmlAllowsDirectory: true,
  },
  'koster-1996': koster1996,
  'robotstxt-1994': { ...koster1996, allowIsAKey: false, agentMatch: 'substring' },
};
