import type { Rule } from '../../rules/index.ts';
import type { RuleChange } from './rule-changes.ts';

/** Longer patterns are skipped, because each of their URLs would fill a screen. */
const MAX_PATTERN = 2_000;

/** Makes paths that match the rules, those of changed rules first, at most `most` of them. */
export function samplePaths(
  changes: readonly RuleChange[],
  rules: readonly Rule[],
  wildcards: boolean,
  most: number,
): Set<string> {
  const paths = new Set<string>();
  const addAll = (rule: Rule): void => {
    for (const path of pathsOf(rule.pattern, wildcards)) if (paths.size < most) paths.add(path);
  };
  for (const change of changes) {
    if (change.kind !== 'added') addAll(change.before);
    if (change.kind !== 'removed') addAll(change.after);
  }
  for (const rule of rules) addAll(rule);
  return paths;
}

/** The shortest path that a pattern matches, a path below it, and a path with a character for each wildcard. */
function pathsOf(pattern: string, wildcards: boolean): string[] {
  if (pattern.length > MAX_PATTERN || !(pattern.startsWith('/') || (wildcards && pattern.startsWith('*')))) {
    return [];
  }
  const anchored = wildcards && pattern.endsWith('$');
  const text = anchored ? pattern.slice(0, -1) : pattern;
  const filled = (filling: string): string => {
    const path = wildcards ? text.replaceAll('*', filling) : text;
    return path.startsWith('/') ? path : `/${path}`;
  };
  const shortest = filled('');
  const deeper = anchored ? [] : [shortest.endsWith('/') ? `${shortest}x` : `${shortest}/x`];
  return [shortest, ...deeper, ...(wildcards && text.includes('*') ? [filled('x')] : [])];
}
