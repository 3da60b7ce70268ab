import { asCharacters } from '../characters.ts';
import { type DialectTraits, dialects } from '../dialect.ts';
import type { RobotsFile } from '../file.ts';
import { SLASH, utf8 } from '../octets.ts';
import type { RecordLine } from '../other-records.ts';
import { fittingRules } from '../matcher/rule-scan.ts';
import { readTarget } from '../matcher/target.ts';

/** Octets of a file. */
export interface OctetRange {
  readonly start: number;
  readonly end: number;
}

/** A line of a scope: the range is that of the text after the path. */
export interface ScopedLine extends OctetRange {
  /** 1-based. */
  readonly line: number;
}

/** The lines for the paths that start with one path, or for all. Texts are ranges: few are ever asked for. */
export interface Scope {
  /** As written. */
  readonly path?: OctetRange;
  /** In file order. */
  readonly lines: ScopedLine[];
}

const HEAD = utf8.encode('user-agent:*\n');
const RULE = utf8.encode('disallow:');
const ANYBODY = new Uint8Array(0);
const LF = 0x0a;
const SP = 0x20;
const HTAB = 0x09;
/** The line of the first rule. */
const FIRST_LINE = 2;

/**
 * Lines whose value may start with a path, as AIPREF's `Content-Usage` (draft-ietf-aipref-attach-05): "the path ends
 * immediately before the first SP (U+20) or HTAB ("U+09") character", and the longest path that matches decides
 * "using the same path prefix matching rules as defined for Allow and Disallow".
 *
 * So the paths are compiled as the rules of a file of their own.
 */
export class ScopedLines {
  readonly #traits: DialectTraits;
  readonly #everywhere: Scope = { lines: [] };
  /** By path; the path of each is the only rule of one line of `#rules`. */
  readonly #scopes: Scope[] = [];
  readonly #rules: Uint8Array;

  constructor({ bytes, dialect }: RobotsFile, lines: readonly RecordLine[]) {
    this.#traits = dialects[dialect];
    const characters = lines.length === 0 ? '' : asCharacters(bytes);
    const known = new Map<string, Scope>();
    const rules = new Uint8Array(
      lines.reduce((length, { start, end }) => length + RULE.length + end - start + 1, HEAD.length),
    );
    rules.set(HEAD);
    let length = HEAD.length;
    for (const { line, start, end } of lines) {
      const pathEnd = bytes[start] === SLASH ? endOfWord(bytes, start, end) : start;
      let scope = this.#everywhere;
      if (pathEnd > start) {
        const written = characters.slice(start, pathEnd);
        const same = known.get(written);
        if (same === undefined) {
          scope = { path: { start, end: pathEnd }, lines: [] };
          known.set(written, scope);
          this.#scopes.push(scope);
          rules.set(RULE, length);
          rules.set(bytes.subarray(start, pathEnd), length + RULE.length);
          length += RULE.length + pathEnd - start;
          rules[length++] = LF;
        } else scope = same;
      }
      let from = pathEnd;
      while (bytes[from] === SP || bytes[from] === HTAB) from++;
      from = Math.min(from, end);
      scope.lines.push({ line, start: from, end });
    }
    this.#rules = rules.slice(0, length);
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
    const { octets, length } = readTarget(target, 0, target.length, traits);
    const fitting = fittingRules(this.#rules, ANYBODY, traits, octets, length);
    if (fitting.length === 0) return [this.#everywhere];
    const longest = fitting.reduce((most, { priority }) => Math.max(most, priority), 0);
    const scopes = fitting
      .filter(({ priority }) => priority === longest)
      .flatMap(({ line }) => this.#scopes[line - FIRST_LINE] ?? []);
    // A path with a stray `%` is two rules.
    return [...new Set(scopes)];
  }
}

function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  while (start < end && bytes[start] !== SP && bytes[start] !== HTAB) start++;
  return start;
}
