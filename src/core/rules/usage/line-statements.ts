import type { RobotsFile } from '../file.ts';
import { fromUtf8 } from '../bytes.ts';
import { type RecordLine, recordsFor } from '../other-records.ts';
import { type ByteRange, type Scope, ScopedLines } from './scoped-lines.ts';
import { licenseSource, statementSource, type UsageDirective, type UsageSource } from './usage-source.ts';

/** The number of sources that are reported. All apply. */
export const MAX_SOURCES = 100;

interface AgentLines {
  readonly agent: string;
  readonly groupsOnly: boolean;
  readonly usages: ScopedLines;
  readonly signals: ScopedLines;
  /** `Content-Signal` lines that stand apart from all groups. */
  readonly originSignals: ScopedLines;
  readonly licenses: readonly UsageSource[];
}

/** The agent asked for last, by file: a crawler asks for the same one again and again. */
const known = new WeakMap<RobotsFile, AgentLines>();

/**
 * The lines about use for `agent`.
 *
 * @param groupsOnly Whether `Content-Signal` lines apart from all groups apply only to the group above them.
 */
export function linesFor(file: RobotsFile, agent: string, groupsOnly: boolean): AgentLines {
  const last = known.get(file);
  if (last?.agent === agent && last.groupsOnly === groupsOnly) return last;
  const keys = ['content-usage', 'content-signal', 'content-signals', 'license'];
  const { applying, apart, outside } = recordsFor(file, agent, keys);
  const having = (prefix: string): RecordLine[] => applying.filter(({ key }) => key.startsWith(prefix));
  const grouped = having('license');
  // RSL 1.0 §4.4: a group's own licences replace the global ones, which stand outside any group.
  const licenses = grouped.length > 0 ? grouped : outside.filter(({ key }) => key === 'license');
  const originSignals = groupsOnly ? [] : apart.filter(({ key }) => key.startsWith('content-signal'));
  const isOriginWide = new Set(originSignals);
  const signals = having('content-signal').filter((line) => !isOriginWide.has(line));
  const lines = {
    agent,
    groupsOnly,
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
    let last: ByteRange | undefined;
    let source: UsageSource | undefined;
    for (const each of lines) {
      // Lines often repeat the one before.
      if (last === undefined || source === undefined || !isSame(bytes, last, each)) {
        const statement = text(each);
        source = different.get(statement) ?? statementSource(directive, statement);
        different.set(statement, source);
        last = each;
      }
      if (first.length < MAX_SOURCES) first.push({ ...source, line: each.line, ...scoped });
    }
    statements = { first, different: [...different.values()], count: lines.length };
    read.set(scope, statements);
  }
  return statements;
}

/** Whether two ranges hold the same bytes. */
function isSame(bytes: Uint8Array, one: ByteRange, other: ByteRange): boolean {
  const length = one.end - one.start;
  if (other.end - other.start !== length) return false;
  for (let at = 0; at < length; at++) {
    if (bytes[one.start + at] !== bytes[other.start + at]) return false;
  }
  return true;
}

/** The statement of a header field. */
export function headerStatement(directive: UsageDirective, value: string): Statements {
  const source = statementSource(directive, value);
  return { first: [source], different: [source], count: 1 };
}
