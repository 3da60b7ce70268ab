import { fromUtf8 } from '../bytes.ts';
import type { RobotsFile } from '../file.ts';
import type { RecordLine } from '../other-records.ts';
import { parseDictionary } from './structured-fields.ts';

/** Whether a use of content is wanted. `unknown` is the absence of a statement, not a permission. */
export type Preference = 'allow' | 'disallow' | 'unknown';

/** Cloudflare's levels of use, least permissive first. */
export type UseLevel = 'immediate' | 'reference' | 'full';
const USE_LEVELS: readonly UseLevel[] = ['immediate', 'reference', 'full'];

/** The statement of one line or header. */
export interface Statement {
  /** Preference by label, including unknown labels. */
  readonly preferences: Readonly<Record<string, Preference>>;
  readonly use?: UseLevel;
  /** Set when its format, a label or a value is unknown. What can be read counts. */
  readonly malformed?: true;
}

/**
 * A statement by the AIPREF vocabulary (draft-ietf-aipref-vocab-08 §6): a dictionary of structured fields, where
 * the token `y` allows, `n` disallows, and all else is unknown.
 *
 * NOTE(aipref): "If the parsing of the Dictionary fails, preferences are unknown." What can be read of a "no" counts
 * nevertheless: nobody writes `train-ai=no` to allow it.
 */
function contentUsage(text: string): Statement {
  const dictionary = parseDictionary(text);
  const preferences = [...(dictionary ?? [])].map(([label, token]): [string, Preference] => {
    return [label, token === 'y' ? 'allow' : token === 'n' ? 'disallow' : 'unknown'];
  });
  return preferences.length > 0 && preferences.every(isKnown('content-usage'))
    ? { preferences: Object.fromEntries(preferences) }
    : withRefusals('content-usage', text, preferences, dictionary === undefined);
}

/**
 * Parses a statement of Cloudflare's content signals, which have no published grammar: `key=value`, separated by
 * commas; case and white space do not matter. Values other than `yes` and `no` state nothing. Of a repeated key the
 * stricter value counts.
 */
function contentSignal(text: string): Statement {
  const preferences = new Map<string, Preference>();
  const levels: UseLevel[] = [];
  let isWhole = true;
  for (const item of text.split(',')) {
    const [, key, value] = /^\s*([a-z][a-z0-9_-]*)\s*=\s*([a-z]+)\s*$/.exec(item.toLowerCase()) ?? [];
    if (key === undefined || value === undefined) {
      isWhole &&= item.trim() === '';
      continue;
    }
    if (key === 'use') {
      const level = USE_LEVELS.find((each) => each === value);
      if (level === undefined) isWhole = false;
      else levels.push(level);
      continue;
    }
    const preference = value === 'yes' ? 'allow' : value === 'no' ? 'disallow' : 'unknown';
    isWhole &&= isKnown('content-signal')([key, preference]);
    preferences.set(key, strictest([preference, preferences.get(key) ?? 'unknown']));
  }
  const use = leastPermissive(levels);
  const stated = isWhole
    ? { preferences: Object.fromEntries(preferences) }
    : withRefusals('content-signal', text, [...preferences], true);
  return { ...stated, ...(use && { use }) };
}

export type Purpose = 'train-ai' | 'ai-use' | 'ai-input' | 'search';

/** The labels of the purposes in each vocabulary. Other labels appear in the sources and have no effect. */
export const LABELS: Readonly<Record<UsageSource['directive'], Readonly<Partial<Record<Purpose, string>>>>> =
  {
    'content-usage': { 'train-ai': 'train-ai', 'ai-use': 'ai-use', search: 'search' },
    'content-signal': { 'train-ai': 'ai-train', 'ai-input': 'ai-input', search: 'search' },
    license: {},
    link: {},
  };

const VALUES: Readonly<Record<UsageDirective, readonly [yes: string, no: string]>> = {
  'content-usage': ['y', 'n'],
  'content-signal': ['yes', 'no'],
};
/** What looks like a label of training or another use and a value, whatever stands between and around them. */
const PAIR =
  /(?<![\w-])(?:(train(?:[-_]ai)?|ai[-_]train)|(ai[-_]use|ai[-_]input|search))\s*[=:]\s*"?([a-z]+)/gi;
const REFUSAL = /^(?:n|no|none|false|deny|disallow)$/i;
const CONSENT = /^(?:y|yes|true|allow)$/i;

/** Whether a preference has a label of the vocabulary, and says something. */
function isKnown(directive: UsageDirective): (stated: readonly [string, Preference]) => boolean {
  const labels = Object.values(LABELS[directive]);
  return ([label, preference]) => preference !== 'unknown' && labels.includes(label);
}

/** Each pair of `text` with a known label, as its vocabulary spells that. */
function pairsIn(
  directive: UsageDirective,
  text: string,
): { readonly label: string; readonly value: string }[] {
  const labels = LABELS[directive];
  return [...text.matchAll(PAIR)].flatMap(([, training, other = '', value = '']) => {
    const spelling = other.toLowerCase().replaceAll('_', '-');
    const label = training === undefined ? spelling : labels['train-ai'];
    return label !== undefined && Object.values(labels).includes(label) ? [{ label, value }] : [];
  });
}

function withRefusals(
  directive: UsageDirective,
  text: string,
  preferences: readonly (readonly [string, Preference])[],
  malformed: boolean,
): Statement {
  const refused = pairsIn(directive, text).filter(({ value }) => REFUSAL.test(value));
  // Most lines have none, and a file may have tens of thousands of lines.
  const stated = refused.length === 0 ? undefined : new Map(preferences);
  let isWhole = !malformed && preferences.every(isKnown(directive));
  for (const { label } of refused) {
    isWhole &&= stated?.get(label) === 'disallow';
    stated?.set(label, 'disallow');
  }
  return {
    preferences: Object.fromEntries(stated ?? preferences),
    ...(!isWhole && { malformed: true }),
  };
}

/** Whether anything of a statement counts. */
export function statesPreference(directive: UsageDirective, text: string): boolean {
  const { preferences, use } = READERS[directive](text);
  return use !== undefined || Object.entries(preferences).some(isKnown(directive));
}

/** How to write a malformed statement; empty when that cannot be told. `undefined` for one that is not malformed. */
export function betterPreference(directive: UsageDirective, text: string): string | undefined {
  const { malformed, use } = READERS[directive](text);
  if (malformed !== true) return undefined;
  const [yes, no] = VALUES[directive];
  const read = pairsIn(directive, text).flatMap(({ label, value }) => {
    if (REFUSAL.test(value)) return [`${label}=${no}`];
    return CONSENT.test(value) ? [`${label}=${yes}`] : [];
  });
  return [...new Set(read), ...(use === undefined ? [] : [`use=${use}`])].join(', ');
}

/**
 * draft-ietf-aipref-vocab-08 §5.1: "If any statement of preference indicates that the usage is disallowed, the
 * result is … disallowed. Otherwise, if any … allows … allowed. Otherwise … unknown."
 */
export function strictest(preferences: readonly Preference[]): Preference {
  if (preferences.includes('disallow')) return 'disallow';
  return preferences.includes('allow') ? 'allow' : 'unknown';
}

export function leastPermissive(levels: readonly UseLevel[]): UseLevel | undefined {
  return USE_LEVELS.find((level) => levels.includes(level));
}

/** A line or header with a statement about the use of a resource. */
export interface UsageSource extends Statement {
  readonly directive: 'content-usage' | 'content-signal' | 'license' | 'link';
  /** The document, with its revision, by which the statement was parsed. */
  readonly specification: string;
  /** 1-based line of the robots.txt file; absent for a header. */
  readonly line?: number;
  /** `origin`: the line stands apart from all groups, and is read for all agents. Absent for other lines and headers. */
  readonly scope?: 'origin';
  /** The path of the statement as written, its first 1,000 characters; absent when it is for all paths. */
  readonly path?: string;
  /** The statement as written, its first 1,000 characters; for a link, its target. */
  readonly value: string;
}

export type UsageDirective = 'content-usage' | 'content-signal';

/**
 * The documents by which statements are parsed. Revision 08 of the AIPREF vocabulary adds `ai-use`, lets `search`
 * override the other categories for uses that qualify, and does not change the format.
 */
export const SPECIFICATIONS: Readonly<Record<UsageSource['directive'], string>> = {
  'content-usage':
    'draft-ietf-aipref-attach-05, 18 August 2026; draft-ietf-aipref-vocab-08, 13 September 2026',
  'content-signal': 'Cloudflare Content Signals Policy, 30 June 2026',
  license: 'RSL 1.0, 10 December 2025',
  link: 'RFC 8288; RSL 1.0, 10 December 2025',
};

const READERS: Readonly<Record<UsageDirective, (text: string) => Statement>> = {
  'content-usage': contentUsage,
  'content-signal': contentSignal,
};

/** RSL 1.0: "a fully qualified URL, including the protocol and host". RFC 9110 §4.1 asks for 8,000 octets at least. */
export const ABSOLUTE_URL: RegExp = /^[a-z][a-z0-9+.-]*:\/\/[^\s/]\S*$/i;
const MAX_URL_LENGTH = 8_000;
const RSL_TYPE = 'application/rsl+xml';

/** The source with a statement of one line or header. */
export function statementSource(directive: UsageDirective, value: string): UsageSource {
  return { directive, specification: SPECIFICATIONS[directive], value, ...READERS[directive](value) };
}

/**
 * The links to licences, and whether they have the type of RSL. Relative ones are resolved if the target is a URL.
 */
export function linkSources(
  field: string,
  target: string,
): { readonly source: UsageSource; readonly isRsl: boolean }[] {
  const base = target.startsWith('/') ? undefined : target;
  return licenseLinks(field).map(({ target: reference, isRsl }) => {
    const url = URL.canParse(reference, base) ? new URL(reference, base).href : reference;
    return { source: licenseOf('link', url), isRsl };
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

/** The source with the URL of a `License` line. */
export function licenseSource({ bytes }: RobotsFile, { line, start, end }: RecordLine): UsageSource {
  return licenseOf('license', fromUtf8.decode(bytes.subarray(start, end)), line);
}

/** `;name=value`, each with white space around it; the name may be missing. */
const PARAMETER =
  /[ \t]*;[ \t]*([!#$&+\-.^_`|~\w]+\*?)?[ \t]*(?:=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?/g;
/** What is up to the next comma: a link, its parameters, and what cannot be read. */
const LINK = new RegExp(`[ \\t]*(?:<([^<>]*)>((?:${PARAMETER.source})*))?[^,]*,?`, 'gy');

/**
 * The links of a `Link` header field with the relation `license`, parsed by RFC 8288 appendix B.2. Unreadable text is
 * skipped up to the next comma. Of a repeated parameter the first counts (§3.3, §3.4.1).
 */
export function licenseLinks(field: string): readonly { readonly target: string; readonly isRsl: boolean }[] {
  return [...field.matchAll(LINK)].flatMap(([, target, written = '']) => {
    const parameters = new Map<string, string>();
    for (const [, name = '', quoted, token = ''] of written.matchAll(PARAMETER)) {
      const value = quoted?.replaceAll(/\\(.)/g, '$1') ?? token;
      if (!parameters.has(name.toLowerCase())) parameters.set(name.toLowerCase(), value.toLowerCase());
    }
    const relations = (parameters.get('rel') ?? '').split(/[ \t]+/);
    if (target === undefined || !relations.includes('license')) return [];
    return [{ target, isRsl: parameters.get('type') === RSL_TYPE }];
  });
}
