import type { RobotsFile } from '../file.ts';
import { fromUtf8, asCharacters, SLASH } from '../bytes.ts';
import { type RecordLine, recordsFor } from '../other-records.ts';
import { licenseSource, statementSource, type UsageDirective, type UsageSource } from './usage-source.ts';
import { type DialectTraits, dialects } from '../dialect.ts';
import { matchingRules, type WrittenRule } from '../matcher/index.ts';
import { readTarget } from '../normal-form/normal-form.ts';

/** The number of sources that are reported. All apply. */
export const MAX_SOURCES = 100;

interface AgentLines {
  readonly agent: string;
  readonly usages: ScopedLines;
  readonly signals: ScopedLines;
  /** `Content-Signal` lines that stand apart from all groups. */
  readonly originSignals: ScopedLines;
  readonly licenses: readonly UsageSource[];
}

/** The agent asked for last, by file: a crawler asks for the same one again and again. */
const known = new WeakMap<RobotsFile, AgentLines>();

/** The lines about use for `agent`. */
export function linesFor(file: RobotsFile, agent: string): AgentLines {
  const last = known.get(file);
  if (last?.agent === agent) return last;
  const keys = ['content-usage', 'content-signal', 'content-signals', 'license'];
  const { applying, apart, outside } = recordsFor(file, agent, keys);
  const having = (prefix: string): RecordLine[] => applying.filter(({ key }) => key.startsWith(prefix));
  const grouped = having('license');
  // RSL 1.0 §4.4: a group's own licences replace the global ones, which stand outside any group.
  const licenses = grouped.length > 0 ? grouped : outside.filter(({ key }) => key === 'license');
  const originSignals = apart.filter(({ key }) => key.startsWith('content-signal'));
  const isOriginWide = new Set(originSignals);
  const signals = having('content-signal').filter((line) => !isOriginWide.has(line));
  const lines = {
    agent,
    usages: new ScopedLines(file, having('content-usage')),
    signals: new ScopedLines(file, signals),
    originSignals: new ScopedLines(file, originSignals),
    licenses: licenses.map((line) => licenseSource(file, line)),
  };
  known.set(file, lines);
  return lines;
}

/** The sources that are reported: a file may have tens of thousands of lines that state the same. */
export interface Statements {
  /** In file order; the first 100. */
  readonly first: readonly UsageSource[];
  /** One source for each different text. */
  readonly different: readonly UsageSource[];
  readonly count: number;
}

/** A part of each label that has an effect. A hostile file may have tens of thousands of others. */
const KNOWN_WORD = /train|use|input|search/i;

/** Cache of parsed lines: the same lines apply to many targets. */
const read = new WeakMap<Scope, Statements>();

/** The statements of the lines that apply to a path. */
export function lineStatements(
  file: RobotsFile,
  directive: UsageDirective,
  scopes: readonly Scope[],
): Statements {
  const [scope, ...others] = scopes.map((each) => scopeStatements(file, directive, each));
  if (scope !== undefined && others.length === 0) return scope;
  const all = scope === undefined ? [] : [scope, ...others];
  const first = all.flatMap((each) => each.first);
  return {
    first: first.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, MAX_SOURCES),
    different: all.flatMap((each) => each.different),
    count: all.reduce((sum, each) => sum + each.count, 0),
  };
}

function scopeStatements({ bytes }: RobotsFile, directive: UsageDirective, scope: Scope): Statements {
  let statements = read.get(scope);
  if (statements === undefined) {
    const { lines, path } = scope;
    const text = ({ start, end }: ByteRange): string => fromUtf8.decode(bytes.subarray(start, end));
    const scoped = path && { path: text(path) };
    const first: UsageSource[] = [];
    const different = new Map<string, UsageSource>();
    for (const each of lines) {
      const statement = text(each);
      if (first.length === MAX_SOURCES && !KNOWN_WORD.test(statement)) continue;
      const source = different.get(statement) ?? statementSource(directive, statement);
      different.set(statement, source);
      if (first.length < MAX_SOURCES) first.push({ ...source, line: each.line, ...scoped });
    }
    statements = { first, different: [...different.values()], count: lines.length };
    read.set(scope, statements);
  }
  return statements;
}

/** The statement of a header field. */
export function headerStatement(directive: UsageDirective, value: string): Statements {
  const source = statementSource(directive, value);
  return { first: [source], different: [source], count: 1 };
}

/** Bytes of a file. */
interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** A line of a scope: the range is that of the text after the path. */
interface ScopedLine extends ByteRange {
  /** 1-based. */
  readonly line: number;
}

/** The lines for the paths that start with one path, or for all. Texts are ranges, because few are ever read. */
interface Scope {
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
class ScopedLines {
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
