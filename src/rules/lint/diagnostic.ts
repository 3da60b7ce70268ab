/**
 * Kinds of problems in a file. Codes are stable. `describeDiagnostic` has a message, a hint and an explanation for
 * each.
 */
export type DiagnosticCode =
  // The file as octets.
  | 'byte-order-mark'
  | 'utf-16'
  | 'invalid-utf-8'
  | 'past-size-limit'
  | 'line-too-long'
  | 'html'
  // Lines.
  | 'forgiven-key'
  | 'misspelt-key'
  | 'missing-colon'
  | 'unreadable-line'
  | 'control-octet'
  | 'unsupported-directive'
  | 'invalid-crawl-delay'
  | 'relative-sitemap'
  | 'record-outside-group'
  | 'license-in-last-group'
  // User-agent lines and groups.
  | 'agent-not-token'
  | 'ignored-name'
  | 'duplicate-group'
  | 'mixed-group'
  | 'directive-between-agents'
  | 'blank-line-between-agents'
  | 'empty-group'
  | 'merge-allows-all'
  // Rules.
  | 'rule-outside-group'
  | 'rule-never-matches'
  | 'empty-rule'
  | 'trailing-star'
  | 'literal-wildcard'
  | 'rewritten-in-urls'
  | 'bracket'
  | 'shadowed-rule';

/**
 * `error`: the line, or much of the file, has no effect as written. `warning`: it has an effect, but probably not the
 * intended one, or not for every crawler. `info`: worth knowing.
 */
export type Severity = 'error' | 'warning' | 'info';

/** One problem, with its place in the file. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in octets; a byte order mark does not count. */
  readonly column: number;
  /** The text at that place: a key, a user-agent value, a pattern or a URL. At most its first 100 octets. */
  readonly text: string;
  /** The agent that the problem concerns. */
  readonly agent?: string;
  /** The text as it is read, or as it was probably intended. */
  readonly meant?: string;
  /** A second line involved: the rule that wins, the first group, or the line between. */
  readonly otherLine?: number;
  /** On the last diagnostic of a code: how many more there are. */
  readonly omitted?: number;
}
