import { type DialectTraits, dialects } from '../dialect.ts';
import type { RobotsFile } from '../file.ts';
import { asCharacters, SLASH } from '../bytes.ts';
import type { RecordLine } from '../other-records.ts';
import { matchingRules, type WrittenRule } from '../matcher/index.ts';
import { readTarget } from '../normal-form/target.ts';

/** Bytes of a file. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A line of a scope: the range is that of the text after the path. */
export interface ScopedLine extends ByteRange {
  /** 1-based. */
  readonly line: number;
}

/** The lines for the paths that start with one path, or for all. Texts are ranges, because few are ever read. */
export interface Scope {
  /** As written. */
  readonly path?: ByteRange;
  /** In file order. */
  readonly lines: ScopedLine[];
}

const SP = 0x20;
const HTAB = 0x09;

/**
 * Lines whose value may start with a path, as AIPREF's `Content-Usage` (draft-ietf-aipref-attach-05): "the path ends
 * immediately before the first SP (U+20) or HTAB ("U+09") character", and the longest path that matches decides
 * "using the same path prefix matching rules as defined for Allow and Disallow".
 *
 * So paths are matched like the patterns of rules.
 */
export class ScopedLines {
  readonly #bytes: Uint8Array;
  readonly #traits: DialectTraits;
  readonly #everywhere: Scope = { lines: [] };
  readonly #scopes: Scope[] = [];
  /** The path of each scope, as the pattern of a rule; its line is the number of the scope. */
  readonly #rules: WrittenRule[] = [];

  constructor({ bytes, dialect }: RobotsFile, lines: readonly RecordLine[]) {
    this.#bytes = bytes;
    this.#traits = dialects[dialect];
    const characters = lines.length === 0 ? '' : asCharacters(bytes);
    const known = new Map<string, Scope>();
    for (const { line, start, end } of lines) {
      const pathEnd = bytes[start] === SLASH ? endOfWord(bytes, start, end) : start;
      let scope = this.#everywhere;
      if (pathEnd > start) {
        const written = characters.slice(start, pathEnd);
        const same = known.get(written);
        if (same === undefined) {
          scope = { path: { start, end: pathEnd }, lines: [] };
          known.set(written, scope);
          const number = this.#scopes.push(scope) - 1;
          this.#rules.push({ allow: false, offset: start, writtenLength: pathEnd - start, line: number });
        } else scope = same;
      }
      let from = pathEnd;
      while (bytes[from] === SP || bytes[from] === HTAB) from++;
      from = Math.min(from, end);
      scope.lines.push({ line, start: from, end });
    }
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#scopes.length === 0 && this.#everywhere.lines.length === 0;
  }

  /**
   * The lines for `target` (path and query): those with the longest matching path, all of them if several are equally
   * long; if no path matches, those without a path.
   */
  for(target: string): readonly Scope[] {
    if (this.#scopes.length === 0) return [this.#everywhere];
    const traits = this.#traits;
    const form = readTarget(target, 0, target.length, traits);
    const matching = matchingRules(this.#bytes, this.#rules, traits, form);
    if (matching.length === 0) return [this.#everywhere];
    const longest = matching.reduce((most, { priority }) => Math.max(most, priority), 0);
    return matching.filter(({ priority }) => priority === longest).map(({ line }) => this.#scopes[line]!);
  }
}

function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  while (start < end && bytes[start] !== SP && bytes[start] !== HTAB) start++;
  return start;
}
