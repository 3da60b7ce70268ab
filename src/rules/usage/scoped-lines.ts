import { type DialectTraits, dialects } from '../dialect.ts';
import type { RobotsFile } from '../file.ts';
import { fromUtf8, SLASH, utf8 } from '../octets.ts';
import type { RecordLine } from '../other-records.ts';
import { fittingRules } from '../matcher/rule-scan.ts';
import { readTarget } from '../matcher/target.ts';

/** A line for the paths that start with its own path, or for all. */
export interface ScopedLine {
  readonly key: string;
  /** 1-based. */
  readonly line: number;
  /** As written. */
  readonly path?: string;
  /** The text after the path. */
  readonly statement: string;
}

const HEAD = utf8.encode('user-agent:*\n');
const RULE = utf8.encode('disallow:');
const ANYBODY = new Uint8Array(0);
const LF = 0x0a;

/**
 * Lines whose value may start with a path, as AIPREF's `Content-Usage` (draft-ietf-aipref-attach-05): "the path ends
 * immediately before the first SP (U+20) or HTAB ("U+09") character", and the longest path that matches decides
 * "using the same path prefix matching rules as defined for Allow and Disallow".
 *
 * So the paths are compiled as the rules of a file of their own.
 */
export class ScopedLines {
  readonly #traits: DialectTraits;
  readonly #everywhere: ScopedLine[] = [];
  /** Lines by the offsets of their paths in that file. */
  readonly #scoped = new Map<number, ScopedLine>();
  readonly #rules: Uint8Array | undefined;

  constructor(file: RobotsFile, lines: readonly RecordLine[]) {
    this.#traits = dialects[file.dialect];
    const paths: Uint8Array[] = [HEAD];
    let length = HEAD.length;
    for (const { key, line, start, end } of lines) {
      const pathEnd = file.bytes[start] === SLASH ? endOfWord(file.bytes, start, end) : start;
      const path = file.bytes.subarray(start, pathEnd);
      const statement = fromUtf8.decode(file.bytes.subarray(pathEnd, end)).replace(/^[ \t]+/, '');
      if (path.length === 0) this.#everywhere.push({ key, line, statement });
      else {
        this.#scoped.set(length + RULE.length, { key, line, path: fromUtf8.decode(path), statement });
        paths.push(RULE, path, Uint8Array.of(LF));
        length += RULE.length + path.length + 1;
      }
    }
    if (this.#scoped.size === 0) return;
    const rules = new Uint8Array(length);
    let at = 0;
    for (const part of paths) {
      rules.set(part, at);
      at += part.length;
    }
    this.#rules = rules;
  }

  /** Whether there are none. */
  get isEmpty(): boolean {
    return this.#everywhere.length === 0 && this.#rules === undefined;
  }

  /**
   * The lines for `target` (path and query): those with the longest matching path, all of them if several are equally
   * long; if no path matches, those without a path.
   */
  for(target: string): readonly ScopedLine[] {
    const rules = this.#rules;
    if (rules === undefined) return this.#everywhere;
    const traits = this.#traits;
    const { octets, length } = readTarget(target, 0, target.length, traits);
    const fitting = fittingRules(rules, ANYBODY, traits, octets, length);
    if (fitting.length === 0) return this.#everywhere;
    const longest = fitting.reduce((most, { priority }) => Math.max(most, priority), 0);
    return fitting
      .filter(({ priority }) => priority === longest)
      .flatMap(({ offset }) => this.#scoped.get(offset) ?? []);
  }
}

function endOfWord(bytes: Uint8Array, start: number, end: number): number {
  while (start < end && bytes[start] !== 0x20 && bytes[start] !== 0x09) start++;
  return start;
}
