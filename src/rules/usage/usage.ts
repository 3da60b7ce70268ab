import { targetOf } from '../../url/index.ts';
import type { RobotsFile } from '../file.ts';
import { fromUtf8 } from '../octets.ts';
import {
  contentSignal,
  contentUsage,
  leastPermissive,
  type Preference,
  type Statement,
  strictest,
  type UseLevel,
} from './preference.ts';
import { parseLinks } from './link-header.ts';
import { type RecordLine, recordsFor } from '../other-records.ts';
import { type OctetRange, type Scope, ScopedLines } from './scoped-lines.ts';

/** Response headers of the resource, if known. Each is one string, as `headers.get()` returns it. */
export interface UsageOptions {
  /** The `Content-Usage` header field. */
  readonly contentUsage?: string | null | undefined;
  /** The `Content-Signal` header field. */
  readonly contentSignal?: string | null | undefined;
  /** The `Link` header field. Only its links with `rel="license"` are read. */
  readonly link?: string | null | undefined;
}

/** The preferences of a site about the use of one resource by one agent. They never allow or disallow fetching. */
export interface Usage {
  /** Training of generative AI models: AIPREF's `train-ai` and Cloudflare's `ai-train`. */
  readonly 'train-ai': Preference;
  /**
   * Input to generative AI models that the user did not provide: AIPREF's `ai-use`. Separate from `ai-input`, which
   * Cloudflare defines differently.
   */
  readonly 'ai-use': Preference;
  /** Input to AI models, such as retrieval for an answer: Cloudflare's `ai-input`. */
  readonly 'ai-input': Preference;
  /**
   * Search: AIPREF's and Cloudflare's `search`. In AIPREF a use that qualifies as search (it links to the resource,
   * and excerpts only help to judge it) depends on this preference alone, whatever the others say.
   */
  readonly search: Preference;
  /** Cloudflare's `use`: the most permissive level allowed. */
  readonly use?: UseLevel;
  /** URLs of the licences in force: the first 100. */
  readonly licenses: readonly string[];
  /** The lines and headers that state this: the first 100. */
  readonly sources: readonly UsageSource[];
  /** The number of further sources. They count too. */
  readonly omitted?: number;
}

/** A line or header with a statement about the use of a resource. */
export interface UsageSource extends Statement {
  readonly directive: 'content-usage' | 'content-signal' | 'license' | 'link';
  /** The document, with its revision, by which the statement was parsed. */
  readonly specification: string;
  /** 1-based line of the robots.txt file; absent for a header. */
  readonly line?: number;
  /** The path of the statement as written, its first 1,000 characters; absent when it is for all paths. */
  readonly path?: string;
  /** The statement as written, its first 1,000 characters; for a link, its target. */
  readonly value: string;
}

type UsageDirective = 'content-usage' | 'content-signal';
type Purpose = 'train-ai' | 'ai-use' | 'ai-input' | 'search';

/** The labels of the purposes in each vocabulary. Other labels appear in the sources and have no effect. */
const LABELS: Readonly<Record<UsageSource['directive'], Readonly<Partial<Record<Purpose, string>>>>> = {
  'content-usage': { 'train-ai': 'train-ai', 'ai-use': 'ai-use', search: 'search' },
  'content-signal': { 'train-ai': 'ai-train', 'ai-input': 'ai-input', search: 'search' },
  license: {},
  link: {},
};

/**
 * The documents by which statements are parsed. Revision 08 of the AIPREF vocabulary adds `ai-use`, lets `search`
 * override the other categories for uses that qualify, and does not change the format. (Known from summaries, which
 * agree.)
 */
const SPECIFICATIONS: Readonly<Record<UsageSource['directive'], string>> = {
  'content-usage': 'draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-08',
  'content-signal': 'Cloudflare Content Signals Policy, 24 September 2025',
  license: 'RSL 1.0, 10 December 2025',
  link: 'RFC 8288; RSL 1.0, 10 December 2025',
};

const READERS: Readonly<Record<UsageDirective, (text: string) => Statement>> = {
  'content-usage': contentUsage,
  'content-signal': contentSignal,
};

/** RSL 1.0: "a fully qualified URL, including the protocol and host". RFC 9110 §4.1 asks for 8,000 octets at least. */
const ABSOLUTE_URL = /^[a-z][a-z0-9+.-]*:\/\/[^\s/]\S*$/i;
const MAX_URL_LENGTH = 8_000;
const RSL_TYPE = 'application/rsl+xml';

/** Bounds what is reported. All statements count. */
const MAX_SOURCES = 100;
const MAX_CHARACTERS = 1_000;
const MAX_LABELS = 50;
/** RFC 9651 §3.1.2: keys of 64 characters have to be supported. */
const MAX_LABEL_CHARACTERS = 64;

interface AgentLines {
  readonly agent: string;
  readonly usages: ScopedLines;
  readonly signals: ScopedLines;
  readonly licenses: readonly UsageSource[];
}

/** The agent asked for last, by file: a crawler asks for the same one again and again. */
const known = new WeakMap<RobotsFile, AgentLines>();

/**
 * Finds what a site states about the use of `target` by `agent`: AIPREF `Content-Usage` (IETF drafts), Cloudflare's
 * `Content-Signal`, RSL `License`. Reported, never enforced: whether the resource may be fetched is `file.check`'s
 * business alone.
 *
 * - A line counts for the user-agent lines directly above it. Of the lines for an agent the longest path that matches
 *   decides; lines with paths as long count together. The wording of `Content-Usage` is that a longer path replaces a shorter one
 *   wholly: labels it leaves out are unknown.
 * - Several statements about a use, from lines, from headers, by both vocabularies: one that disallows wins over
 *   any that allows (draft-ietf-aipref-vocab §5.1).
 * - `Content-Usage` lines do not count where the file disallows the target: "no preferences are implied for
 *   resources that are disallowed" (draft-ietf-aipref-attach). Headers do.
 * - Licences: those of the block that applies; if it has none, those in front of the first group. A `Link` header with
 *   the type of RSL is nearer to the resource, and replaces both; one of another type, or none, comes besides.
 *
 * @param target An absolute URL, or path and query starting with `/`, taken as given.
 * @param agent As for `file.check`. Default `*`.
 * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when `target` is neither.
 *
 * @example
 * ```ts
 * const file = parseRobots('User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y');
 * usage(file, '/free/a', 'ExampleBot')['train-ai']; // 'allow'
 * usage(file, '/a', 'ExampleBot')['train-ai']; // 'disallow'
 * usage(file, '/free/a', 'ExampleBot', { contentUsage: 'train-ai=n' })['train-ai']; // 'disallow'
 * ```
 */
export function usage(
  file: RobotsFile,
  target: string,
  agent: string | readonly string[] = '*',
  options: UsageOptions = {},
): Usage {
  const token = file.chooseAgent(agent);
  const { usages, signals, licenses } = linesFor(file, token);
  const path = target.startsWith('/') ? target : targetOf(target);
  const stated: Statements[] = [];
  if (!usages.isEmpty && file.check(target, token).allowed) {
    stated.push(lineStatements(file, 'content-usage', usages.for(path)));
  }
  if (options.contentUsage != null) stated.push(headerStatement('content-usage', options.contentUsage));
  stated.push(lineStatements(file, 'content-signal', signals.for(path)));
  if (options.contentSignal != null) stated.push(headerStatement('content-signal', options.contentSignal));

  const linked = options.link == null ? [] : linkSources(options.link, target);
  const replaced = linked.some(({ isRsl, source }) => isRsl && source.malformed !== true);
  const licensing = [...linked.map(({ source }) => source), ...(replaced ? [] : licenses)];
  const different = stated.flatMap((each) => each.different);
  const use = leastPermissive(different.flatMap((source) => source.use ?? []));
  const shown = [...stated.flatMap(({ first }) => first), ...licensing];
  const count = stated.reduce((sum, each) => sum + each.count, licensing.length);
  return {
    'train-ai': combined('train-ai', different),
    'ai-use': combined('ai-use', different),
    'ai-input': combined('ai-input', different),
    search: combined('search', different),
    ...(use && { use }),
    licenses: licensing
      .filter(({ malformed }) => malformed !== true)
      .slice(0, MAX_SOURCES)
      .map(({ value }) => value),
    sources: shown.slice(0, MAX_SOURCES).map(bounded),
    ...(count > MAX_SOURCES && { omitted: count - MAX_SOURCES }),
  };
}

/** A source shortened for reports: its beginning, and labels of bounded length. */
function bounded(source: UsageSource): UsageSource {
  const { path, preferences, value } = source;
  const isLicense = source.directive === 'license' || source.directive === 'link';
  const labels = Object.entries(preferences).filter(([label]) => label.length <= MAX_LABEL_CHARACTERS);
  return {
    ...source,
    ...(path !== undefined && { path: path.slice(0, MAX_CHARACTERS) }),
    value: isLicense && source.malformed !== true ? value : value.slice(0, MAX_CHARACTERS),
    preferences: Object.fromEntries(labels.slice(0, MAX_LABELS)),
  };
}

/**
 * The links to licences, and whether they have the type of RSL. Relative ones are resolved if the target is a URL.
 */
function linkSources(
  field: string,
  target: string,
): { readonly source: UsageSource; readonly isRsl: boolean }[] {
  const base = target.startsWith('/') ? undefined : target;
  return parseLinks(field)
    .filter(({ relations }) => relations.includes('license'))
    .map(({ target: reference, type }) => {
      const url = URL.canParse(reference, base) ? new URL(reference, base).href : reference;
      return { source: licenseOf('link', url), isRsl: type === RSL_TYPE };
    });
}

function licenseOf(directive: 'license' | 'link', value: string, line?: number): UsageSource {
  return {
    directive,
    specification: SPECIFICATIONS[directive],
    ...(line !== undefined && { line }),
    value,
    preferences: {},
    ...((value.length > MAX_URL_LENGTH || !ABSOLUTE_URL.test(value)) && { malformed: true }),
  };
}

function linesFor(file: RobotsFile, agent: string): AgentLines {
  const last = known.get(file);
  if (last?.agent === agent) return last;
  const keys = ['content-usage', 'content-signal', 'content-signals', 'license'];
  const { applying, outside } = recordsFor(file, agent, keys);
  const having = (prefix: string): RecordLine[] => applying.filter(({ key }) => key.startsWith(prefix));
  const grouped = having('license');
  // RSL 1.0 §4.4: a group's own licences replace the global ones, which stand outside any group.
  const licenses = grouped.length > 0 ? grouped : outside.filter(({ key }) => key === 'license');
  const lines = {
    agent,
    usages: new ScopedLines(file, having('content-usage')),
    signals: new ScopedLines(file, having('content-signal')),
    licenses: licenses.map((line) => licenseSource(file, line)),
  };
  known.set(file, lines);
  return lines;
}

function licenseSource({ bytes }: RobotsFile, { line, start, end }: RecordLine): UsageSource {
  return licenseOf('license', fromUtf8.decode(bytes.subarray(start, end)), line);
}

/** Sources as far as answers need them: a file may have tens of thousands of lines that state the same. */
interface Statements {
  /** In file order; the first 100. */
  readonly first: readonly UsageSource[];
  /** One source for each different text. */
  readonly different: readonly UsageSource[];
  readonly count: number;
}

/** Cache of parsed lines: the same lines apply to many targets. */
const read = new WeakMap<Scope, Statements>();

function lineStatements(file: RobotsFile, directive: UsageDirective, scopes: readonly Scope[]): Statements {
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
    const text = ({ start, end }: OctetRange): string => fromUtf8.decode(bytes.subarray(start, end));
    const scoped = path && { path: text(path) };
    const first: UsageSource[] = [];
    const different = new Map<string, UsageSource>();
    let last: OctetRange | undefined;
    let source: UsageSource | undefined;
    for (const each of lines) {
      // Lines often repeat the one before.
      if (last === undefined || source === undefined || !isSame(bytes, last, each)) {
        const statement = text(each);
        source = different.get(statement) ?? headerSource(directive, statement);
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

/** Whether two ranges hold the same octets. */
function isSame(bytes: Uint8Array, one: OctetRange, other: OctetRange): boolean {
  const length = one.end - one.start;
  if (other.end - other.start !== length) return false;
  for (let at = 0; at < length; at++) {
    if (bytes[one.start + at] !== bytes[other.start + at]) return false;
  }
  return true;
}

function headerStatement(directive: UsageDirective, value: string): Statements {
  const source = headerSource(directive, value);
  return { first: [source], different: [source], count: 1 };
}

function headerSource(directive: UsageDirective, value: string): UsageSource {
  return { directive, specification: SPECIFICATIONS[directive], value, ...READERS[directive](value) };
}

/** The first source that states what counts for `purpose`: one that disallows, else one that allows. */
export function statedBy(
  stated: Usage,
  purpose: 'train-ai' | 'ai-use' | 'ai-input' | 'search',
): UsageSource | undefined {
  const preference = stated[purpose];
  if (preference === 'unknown') return undefined;
  return stated.sources.find(
    ({ directive, preferences }) => preferences[LABELS[directive][purpose] ?? ''] === preference,
  );
}

function combined(purpose: Purpose, sources: readonly UsageSource[]): Preference {
  return strictest(
    sources.map(({ directive, preferences }) => preferences[LABELS[directive][purpose] ?? ''] ?? 'unknown'),
  );
}
