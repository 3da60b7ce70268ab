import type { Diagnostic, DiagnosticCode, Severity } from './diagnostic.ts';
import { fromUtf8 } from '../octets.ts';

/** The most diagnostics of one code. The last one has the number of those omitted. */
const MAX_PER_CODE = 100;
/** The most subjects that are tracked per code. */
const MAX_SUBJECTS = 500;
const MAX_TEXT_OCTETS = 100;

/** Octets that a diagnostic is about, as line and offsets. */
export interface Span {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
}

type MutableDiagnostic = { -readonly [Field in keyof Diagnostic]: Diagnostic[Field] };

/** Collects diagnostics, within bounds: a file may have a quarter of a million bad lines. */
export class Report {
  readonly #bytes: Uint8Array;
  readonly #kinds = new Map<string, MutableDiagnostic[]>();

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** @param thing The subject. Only the first diagnostic with the same code and subject is kept. */
  add(
    code: DiagnosticCode,
    severity: Severity,
    { line, column, start, end }: Span,
    more?: Pick<Diagnostic, 'agent' | 'meant' | 'otherLine'>,
    thing?: string,
  ): void {
    let kind: string = code;
    if (thing !== undefined && (this.#kinds.has(code + thing) || this.#kinds.size < MAX_SUBJECTS))
      kind += thing;
    const shown = this.#kinds.get(kind) ?? [];
    if (shown.length < (kind === code ? MAX_PER_CODE : 1)) {
      const text = fromUtf8.decode(this.#bytes.subarray(start, Math.min(end, start + MAX_TEXT_OCTETS)));
      shown.push({ code, severity, line, column, text, ...more });
      this.#kinds.set(kind, shown);
    } else {
      const last = shown.at(-1)!;
      last.omitted = (last.omitted ?? 0) + 1;
    }
  }

  /** By line and column. */
  get diagnostics(): readonly Diagnostic[] {
    return [...this.#kinds.values()].flat().sort((a, b) => a.line - b.line || a.column - b.column);
  }
}
