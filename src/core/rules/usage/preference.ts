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
  /** Set when it could not be parsed. It then states nothing. */
  readonly malformed?: true;
}

const NOTHING: Statement = { preferences: {}, malformed: true };

/**
 * A statement by the AIPREF vocabulary (draft-ietf-aipref-vocab-08 §6): a dictionary of structured fields, where
 * the token `y` allows, `n` disallows, and all else is unknown. "If the parsing of the Dictionary fails, preferences
 * are unknown."
 */
export function contentUsage(text: string): Statement {
  const dictionary = parseDictionary(text);
  if (dictionary === undefined) return NOTHING;
  const preferences = [...dictionary].map(([label, value]): [string, Preference] => {
    const token = value.type === 'token' ? value.token : '';
    return [label, token === 'y' ? 'allow' : token === 'n' ? 'disallow' : 'unknown'];
  });
  return { preferences: Object.fromEntries(preferences) };
}

/**
 * Parses a statement of Cloudflare's content signals, which have no published grammar: `key=value`, separated by
 * commas; case and white space do not matter. Values other than `yes` and `no` state nothing. Of a repeated key the
 * stricter value counts.
 */
export function contentSignal(text: string): Statement {
  const preferences = new Map<string, Preference>();
  const levels: UseLevel[] = [];
  let readable = false;
  for (const item of text.split(',')) {
    const [, key, value] = /^\s*([a-z][a-z0-9_-]*)\s*=\s*([a-z]+)\s*$/.exec(item.toLowerCase()) ?? [];
    if (key === undefined || value === undefined) continue;
    readable = true;
    const level = USE_LEVELS.find((each) => each === value);
    if (key === 'use') {
      if (level !== undefined) levels.push(level);
      continue;
    }
    const preference = value === 'yes' ? 'allow' : value === 'no' ? 'disallow' : 'unknown';
    preferences.set(key, strictest([preference, preferences.get(key) ?? 'unknown']));
  }
  if (!readable && text.trim() !== '') return NOTHING;
  const use = leastPermissive(levels);
  return { preferences: Object.fromEntries(preferences), ...(use && { use }) };
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
