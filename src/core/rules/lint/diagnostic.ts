import { fromUtf8 } from '../bytes.ts';

/** The severity of most diagnostics of each code; `lint` may give another. */
const SEVERITIES = {
  // What it comes to.
  'nothing-in-effect': 'error',
  'site-closed': 'info',
  'group-runs-on': 'warning',
  // The file as bytes.
  'utf-16': 'error',
  'invalid-utf-8': 'warning',
  'past-size-limit': 'error',
  'line-too-long': 'warning',
  html: 'error',
  // Lines.
  'forgiven-key': 'warning',
  'misspelt-key': 'error',
  'missing-colon': 'warning',
  'unreadable-line': 'warning',
  'control-byte': 'error',
  'invisible-character': 'warning',
  'unsupported-directive': 'info',
  'invalid-crawl-delay': 'warning',
  'unreadable-preference': 'warning',
  'relative-sitemap': 'warning',
  'record-outside-group': 'warning',
  'origin-wide-signal': 'info',
  'license-in-last-group': 'warning',
  // User-agent lines and groups.
  'agent-not-token': 'warning',
  'duplicate-group': 'warning',
  'directive-between-agents': 'warning',
  'empty-group': 'warning',
  'merge-allows-all': 'error',
  'not-inherited': 'info',
  'preference-not-inherited': 'info',
  // Rules.
  'rule-outside-group': 'error',
  'rule-never-matches': 'error',
  'hash-in-path': 'warning',
  'blank-in-path': 'warning',
  'host-in-path': 'warning',
  'raw-letters': 'info',
  'rewritten-in-urls': 'warning',
  bracket: 'info',
  'shadowed-rule': 'warning',
} as const;

/**
 * Kinds of problems. Codes are stable. `describeDiagnostic` has a message, a hint and an explanation for
 * each (`findings.ts`).
 */
export type DiagnosticCode = keyof typeof SEVERITIES;

/**
 * `error`: a rule, a group or much of the file has no effect as written. `warning`: it has an effect, but probably not the
 * intended one, or not for every crawler. `info`: worth knowing.
 */
export type Severity = 'error' | 'warning' | 'info';

/** What the file comes to: reported first. */
export const WHOLE_FILE: ReadonlySet<DiagnosticCode> = new Set([
  'nothing-in-effect',
  'site-closed',
  'group-runs-on',
]);

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
  /** Of problems that have several forms: which one. */
  readonly kind?: string;
  /** Agents that the problem concerns, or that it does not: the first of them. */
  readonly agents?: readonly string[];
  /** A second line involved: the rule that wins, the first group, or the line between. */
  readonly otherLine?: number;
  /** Several lines involved: the first of them. */
  readonly otherLines?: readonly number[];
  /** On the last diagnostic of a code: how many more there are. */
  readonly omitted?: number;
}

/** Bytes that a diagnostic is about, as line and offsets. */
export interface Span {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
}

/** The most diagnostics of one code. The last one has the number of those omitted. */
const MAX_PER_CODE = 100;
/** The most subjects that are tracked per code. */
const MAX_SUBJECTS = 500;
const MAX_TEXT_BYTES = 100;

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
    { line, column, start, end }: Span,
    more?: Partial<Omit<Diagnostic, 'code' | 'line' | 'column' | 'text'>>,
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
    const added: MutableDiagnostic = { code, severity: SEVERITIES[code], line, column, text, ...more };
    if (isSubject) {
      bySubject.set(subject, added);
      this.#subjects++;
    } else shown.push(added);
  }

  /** Whether a further diagnostic of a code is shown, not only counted. */
  shows(code: DiagnosticCode): boolean {
    return (this.#kinds.get(code)?.shown.length ?? 0) < MAX_PER_CODE;
  }

  /** What it comes to first; then by line and column. */
  get diagnostics(): readonly Diagnostic[] {
    const place = ({ code }: Diagnostic): number => Number(!WHOLE_FILE.has(code));
    return [...this.#kinds.values()]
      .flatMap(({ shown, bySubject }) => [...shown, ...bySubject.values()])
      .sort((a, b) => place(a) - place(b) || a.line - b.line || a.column - b.column);
  }
}
