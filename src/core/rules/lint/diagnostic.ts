import { fromUtf8 } from '../bytes.ts';

/**
 * Kinds of problems in a file. Codes are stable. `describeDiagnostic` has a message, a hint and an explanation for
 * each.
 */
export type DiagnosticCode =
  // The file as bytes.
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
  | 'control-byte'
  | 'unsupported-directive'
  | 'invalid-crawl-delay'
  | 'relative-sitemap'
  | 'record-outside-group'
  | 'origin-wide-signal'
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
  /** 1-based, in bytes; a byte order mark does not count. */
  readonly column: number;
  /** The text at that place: a key, a user-agent value, a pattern or a URL. At most its first 100 bytes. */
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

/** The most diagnostics of one code. The last one has the number of those omitted. */
const MAX_PER_CODE = 100;
/** The most subjects that are tracked per code. */
const MAX_SUBJECTS = 500;
const MAX_TEXT_BYTES = 100;

/** Bytes that a diagnostic is about, as line and offsets. */
export interface Span {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
}

type MutableDiagnostic = { -readonly [Field in keyof Diagnostic]: Diagnostic[Field] };

/** The diagnostics of one code. */
interface Kind {
  readonly shown: MutableDiagnostic[];
  /** One for each subject. */
  readonly bySubject: Map<string, MutableDiagnostic>;
}

/** Collects diagnostics, within bounds: a file may have a quarter of a million bad lines. */
export class Report {
  readonly #bytes: Uint8Array;
  readonly #kinds = new Map<DiagnosticCode, Kind>();
  #subjects = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param subject Only the first diagnostic with the same code and subject is kept. */
  add(
    code: DiagnosticCode,
    severity: Severity,
    { line, column, start, end }: Span,
    more?: Pick<Diagnostic, 'agent' | 'meant' | 'otherLine'>,
    subject?: string,
  ): void {
    let kind = this.#kinds.get(code);
    if (kind === undefined) this.#kinds.set(code, (kind = { shown: [], bySubject: new Map() }));
    const { shown, bySubject } = kind;
    const isSubject = subject !== undefined && (bySubject.has(subject) || this.#subjects < MAX_SUBJECTS);
    const last = isSubject ? bySubject.get(subject) : shown.length < MAX_PER_CODE ? undefined : shown.at(-1);
    if (last !== undefined) {
      last.omitted = (last.omitted ?? 0) + 1;
      return;
    }
    const text = fromUtf8.decode(this.#bytes.subarray(start, Math.min(end, start + MAX_TEXT_BYTES)));
    const added: MutableDiagnostic = { code, severity, line, column, text, ...more };
    if (isSubject) {
      bySubject.set(subject, added);
      this.#subjects++;
    } else shown.push(added);
  }

  /** By line and column. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.#kinds.values()]
      .flatMap(({ shown, bySubject }) => [...shown, ...bySubject.values()])
      .sort((a, b) => a.line - b.line || a.column - b.column);
  }
}
