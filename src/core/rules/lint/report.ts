import { fromUtf8 } from '../bytes.ts';
import { type Diagnostic, type DiagnosticCode, severityOf, type Span, WHOLE_FILE } from './diagnostic.ts';

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
    const added: MutableDiagnostic = { code, severity: severityOf(code), line, column, text, ...more };
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
