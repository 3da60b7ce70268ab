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
import { type RecordLine, recordsFor } from '../other-records.ts';
import { type ScopedLine, ScopedLines } from './scoped-lines.ts';

/** Response headers of the resource, where they are known; each as one string, as `headers.get()` gives it. */
export interface UsageOptions {
  /** The `Content-Usage` header field. */
  readonly contentUsage?: string | null | undefined;
  /** The `Content-Signal` header field. */
  readonly contentSignal?: string | null | undefined;
}

/** What a site states about the use of one resource by one agent. It never allows or disallows fetching. */
export interface Usage {
  /** Training of generative AI models: AIPREF's `train-ai` and Cloudflare's `ai-train`. */
  readonly 'train-ai': Preference;
  /** Search: AIPREF's and Cloudflare's `search`. */
  readonly search: Preference;
  /** Input to AI models, such as retrieval for an answer: Cloudflare's `ai-input`. */
  readonly 'ai-input': Preference;
  /** Cloudflare's `use`: at most this is allowed. */
  readonly use?: UseLevel;
  /** URLs of the RSL licences in force. */
  readonly licenses: readonly string[];
  /** The lines and headers that state this. */
  readonly sources: readonly UsageSource[];
}

/** A line or header that says something about the use of a resource. */
export interface UsageSource extends Statement {
  readonly directive: 'content-usage' | 'content-signal' | 'license';
  /** 1-based line of the robots.txt file; absent for a header. */
  readonly line?: number;
  /** The path that the statement is for, as written; absent when it is for all. */
  readonly path?: string;
  /** The statement as written. */
  readonly value: string;
}

type UsageDirective = 'content-usage' | 'content-signal';
type Purpose = 'train-ai' | 'search' | 'ai-input';

/** What the vocabularies call the purposes. Other labels of theirs are kept in the sources, and mean nothing here. */
const LABELS: Readonly<Record<UsageSource['directive'], Readonly<Partial<Record<Purpose, string>>>>> = {
  'content-usage': { 'train-ai': 'train-ai', search: 'search' },
  'content-signal': { 'train-ai': 'ai-train', search: 'search', 'ai-input': 'ai-input' },
  license: {},
};

const READERS: Readonly<Record<UsageDirective, (text: string) => Statement>> = {
  'content-usage': contentUsage,
  'content-signal': contentSignal,
};

/** RSL 1.0: "a fully qualified URL, including the protocol and host". */
const ABSOLUTE_URL = /^[a-z][a-z0-9+.-]*:\/\/[^\s/]\S*$/i;

interface AgentLines {
  readonly agent: string;
  readonly usages: ScopedLines;
  readonly signals: ScopedLines;
  readonly licenses: readonly UsageSource[];
}

/** The agent that was asked for last, for each file: a crawler asks for the same one again and again. */
const known = new WeakMap<RobotsFile, AgentLines>();

/**
 * What a site states about the use of `target` by `agent`: AIPREF `Content-Usage` (IETF drafts), Cloudflare's
 * `Content-Signal`, RSL `License`. Reported, never enforced: whether the resource may be fetched is `file.check`'s
 * business alone.
 *
 * - The groups that apply are those whose rules apply. Of their lines the longest path that matches decides; lines
 *   with paths as long count together. The wording of `Content-Usage` is that a longer path replaces a shorter one
 *   wholly: labels it leaves out are unknown.
 * - Several statements about a use, from lines, from headers, by both vocabularies: one that disallows wins over
 *   any that allows (draft-ietf-aipref-vocab §5.1).
 * - `Content-Usage` lines do not count where the file disallows the target: "no preferences are implied for
 *   resources that are disallowed" (draft-ietf-aipref-attach). Headers do.
 * - Licences: those of the groups that apply; if these have none, those in front of the first group.
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
  const sources: UsageSource[] = [];
  if (!usages.isEmpty && file.check(target, token).allowed) {
    for (const line of usages.for(path)) sources.push(lineSource('content-usage', line));
  }
  if (options.contentUsage != null) sources.push(headerSource('content-usage', options.contentUsage));
  for (const line of signals.for(path)) sources.push(lineSource('content-signal', line));
  if (options.contentSignal != null) sources.push(headerSource('content-signal', options.contentSignal));

  const use = leastPermissive(sources.flatMap((source) => source.use ?? []));
  return {
    'train-ai': combined('train-ai', sources),
    search: combined('search', sources),
    'ai-input': combined('ai-input', sources),
    ...(use && { use }),
    licenses: licenses.filter(({ malformed }) => malformed !== true).map(({ value }) => value),
    sources: [...sources, ...licenses],
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
  const value = fromUtf8.decode(bytes.subarray(start, end));
  const source = { directive: 'license', line, value, preferences: {} } as const;
  return ABSOLUTE_URL.test(value) ? source : { ...source, malformed: true };
}

function lineSource(directive: UsageDirective, { line, path, statement }: ScopedLine): UsageSource {
  return {
    directive,
    line,
    ...(path !== undefined && { path }),
    value: statement,
    ...READERS[directive](statement),
  };
}

function headerSource(directive: UsageDirective, value: string): UsageSource {
  return { directive, value, ...READERS[directive](value) };
}

function combined(purpose: Purpose, sources: readonly UsageSource[]): Preference {
  return strictest(
    sources.map(({ directive, preferences }) => preferences[LABELS[directive][purpose] ?? ''] ?? 'unknown'),
  );
}
