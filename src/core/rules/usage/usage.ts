import { assertKnownOptions, headerField, type HeaderFields, invalid } from '../../base/index.ts';
import { targetOf } from '../../url/index.ts';
import { assertRobotsFile, pathEnd, type RobotsFile } from '../file.ts';
import {
  headerStatement,
  linesFor,
  lineStatements,
  MAX_SOURCES,
  type Statements,
} from './line-statements.ts';
import {
  LABELS,
  leastPermissive,
  type Preference,
  type Purpose,
  strictest,
  type UseLevel,
  linkSources,
  type UsageSource,
} from './usage-source.ts';

/** The header fields of the resource, if known. */
export interface UsageOptions {
  /**
   * The header fields of the response, in any form that a library has: `Content-Usage`, `Content-Signal` and the links of
   * `Link` with `rel="license"` are read.
   */
  readonly headers?: HeaderFields | undefined;
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
   * and excerpts only help to judge it) depends on this preference alone.
   */
  readonly search: Preference;
  /**
   * Cloudflare's `use`: the most permissive level allowed. Below `full` it disallows `train-ai`, below `reference`
   * `search`, too.
   */
  readonly use?: UseLevel;
  /** URLs of the licences in force: the first 100. */
  readonly licenses: readonly string[];
  /** The lines and headers that state this: the first 100. */
  readonly sources: readonly UsageSource[];
  /** The number of further sources. They apply too. */
  readonly omitted?: number;
}

/**
 * The least level of `use` that each purpose needs. Cloudflare: "`immediate` — Ephemeral, single-response use, where
 * content is not retained. `reference` — Content may be retained, indexed, or cited. `full` — Unrestricted use, including
 * AI training."
 */
const NEEDED_USE: Readonly<Record<Purpose, UseLevel>> = {
  'train-ai': 'full',
  'ai-use': 'immediate',
  'ai-input': 'immediate',
  search: 'reference',
};

/** Bounds what is reported. All statements apply. */
const MAX_CHARACTERS = 1_000;
const MAX_LABELS = 50;
/** RFC 9651 §3.1.2: keys of 64 characters have to be supported. */
const MAX_LABEL_CHARACTERS = 64;

/**
 * Finds what a site states about the use of `target` by `agent`: AIPREF `Content-Usage` (IETF drafts), Cloudflare's
 * `Content-Signal`, RSL `License`. Reported, never enforced: only `file.check` decides whether the resource may be
 * fetched.
 *
 * - A line applies to the user-agent lines directly above it. Of the lines for an agent the longest path that matches
 *   decides; lines with equally long paths are combined. As the draft of `Content-Usage` says, a longer path replaces a
 *   shorter one wholly: labels it leaves out are unknown.
 * - `Content-Signal` lines apart from all groups, before the first one or in a paragraph of their own, apply to all agents
 *   (`scope: 'origin'`). `Content-Usage` is read in groups only, as its draft says.
 * - `use=reference` disallows `train-ai`; `use=immediate` disallows `train-ai` and `search`. No level allows anything.
 * - Of several statements about a use, from lines and headers, one that disallows wins over any that allows
 *   (draft-ietf-aipref-vocab §5.1).
 * - `Content-Usage` lines do not apply if the file disallows the target: "no preferences are implied for
 *   resources that are disallowed" (draft-ietf-aipref-attach). Headers do.
 * - Licences: those of the block that applies; if it has none, those before the first group. A `Link` header with the type
 *   of RSL is closer to the resource and replaces both; a `Link` of another type, or without a type, is added.
 *
 * @param target An absolute URL, or path and query starting with `/`, taken as given up to its first `#`.
 * @param agent As for `file.check`. Default `*`.
 * @throws RobotsInvalidUrlError (`ERR_ROBOTS_INVALID_URL`) when `target` is neither, or has more than 65,536
 * bytes; RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for an unknown option.
 *
 * @example
 * ```ts
 * const file = parseRobots('User-agent: *\nAllow: /\nContent-Usage: train-ai=n\nContent-Usage: /free/ train-ai=y');
 * usage(file, '/free/a', 'ExampleBot')['train-ai']; // 'allow'
 * usage(file, '/a', 'ExampleBot')['train-ai']; // 'disallow'
 * usage(file, '/free/a', 'ExampleBot', { headers: { 'content-usage': 'train-ai=n' } })['train-ai']; // 'disallow'
 * ```
 */
export function usage(
  file: RobotsFile,
  target: string,
  agent: string | readonly string[] = '*',
  options: UsageOptions = {},
): Usage {
  assertRobotsFile(file, 'usage');
  assertKnownOptions(options, ['headers']);
  const { headers } = options;
  const contentUsage = headerField(headers, 'content-usage');
  const contentSignal = headerField(headers, 'content-signal');
  const link = headerField(headers, 'link');
  const token = file.chooseAgent(agent);
  const { usages, signals, originSignals, licenses } = linesFor(file, token);
  const path = target?.[0] === '/' ? target.slice(0, pathEnd(target)) : targetOf(target);
  const stated: Statements[] = [];
  if (!usages.isEmpty && file.check(target, token).allowed) {
    stated.push(lineStatements(file, 'content-usage', usages.for(path)));
  }
  if (contentUsage !== undefined) stated.push(headerStatement('content-usage', contentUsage));
  stated.push(lineStatements(file, 'content-signal', signals.for(path)));
  if (!originSignals.isEmpty) {
    const { first, ...others } = lineStatements(file, 'content-signal', originSignals.for(path));
    stated.push({ ...others, first: first.map((source) => ({ ...source, scope: 'origin' })) });
  }
  if (contentSignal !== undefined) stated.push(headerStatement('content-signal', contentSignal));

  const linked = link === undefined ? [] : linkSources(link, target);
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

/** The first source that decides about `purpose`: one that disallows, else one that allows. */
export function statedBy(
  stated: Usage,
  purpose: 'train-ai' | 'ai-use' | 'ai-input' | 'search',
): UsageSource | undefined {
  if (!Array.isArray(stated?.sources)) throw invalid('`stated`', 'what `usage` returned', stated);
  if (typeof purpose !== 'string' || !Object.hasOwn(NEEDED_USE, purpose))
    throw invalid('`purpose`', 'a purpose', purpose, Object.keys(NEEDED_USE));
  const preference = stated[purpose];
  if (preference === 'unknown') return undefined;
  return stated.sources.find((source) => preferenceOf(source, purpose) === preference);
}

function combined(purpose: Purpose, sources: readonly UsageSource[]): Preference {
  return strictest(sources.map((source) => preferenceOf(source, purpose)));
}

/** What one source states about a purpose. A level of `use` allows nothing by itself. */
function preferenceOf({ directive, preferences, use }: UsageSource, purpose: Purpose): Preference {
  if (use !== undefined && leastPermissive([use, NEEDED_USE[purpose]]) !== NEEDED_USE[purpose])
    return 'disallow';
  return preferences[LABELS[directive][purpose] ?? ''] ?? 'unknown';
}
