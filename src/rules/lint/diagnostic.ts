/**
 * What can be the matter with a file. Codes are stable; `describeDiagnostic` has a message, a hint and an
 * explanation for each.
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
  | 'unsupported-directive'
  | 'invalid-crawl-delay'
  | 'relative-sitemap'
  | 'record-outside-group'
  | 'license-in-last-group'
  // User-agent lines and groups.
  | 'agent-not-token'
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
 * `error`: the line, or much of the file, does not do what it says. `warning`: it does, but not what was probably
 * meant, or not for every crawler. `info`: worth knowing.
 */
export type Severity = 'error' | 'warning' | 'info';

/** One thing that is the matter with a file, and where. */
export interface Diagnostic {
  readonly code: DiagnosticCode;
  readonly severity: Severity;
  /** 1-based. */
  readonly line: number;
  /** 1-based, in octets; a byte order mark does not count. */
  readonly column: number;
  /** What stands there: a key, a user-agent value, a pattern, a URL. Its first 100 octets. */
  readonly text: string;
  /** The agent this is about. */
  readonly agent?: string;
  /** What it is read as, or was probably meant to be. */
  readonly meant?: string;
  /** Another line that this is about: the rule that wins, the group that comes first, the line between. */
  readonly otherLine?: number;
  /** How many more of the kind there are: on the last that is shown. */
  readonly omitted?: number;
}
