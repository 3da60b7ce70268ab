import type { z } from 'zod';
import { quote } from '../../../core/base/index.ts';

/** More would not help: the first ones often cause the others. */
const MAX_TOLD = 3;

/** Says in plain words what a schema expected of `given`, and what came. */
export function inputSentence({ issues }: z.ZodError, given: unknown): string {
  const told = issues.slice(0, MAX_TOLD).map((issue) => issueSentence(issue, given));
  return `Expected ${told.join('; expected ')}`;
}

function issueSentence(issue: z.core.$ZodIssue, given: unknown): string {
  const name = issue.path.length === 0 ? 'the whole' : `\`${issue.path.map(String).join('.')}\``;
  switch (issue.code) {
    case 'invalid_type':
      return `${name} to be ${kinds[issue.expected] ?? issue.expected}, got ${kindOf(valueAt(given, issue.path))}`;
    case 'too_big':
      return `${name} to be ${bound('at most', Number(issue.maximum), issue.origin)}, got more`;
    case 'too_small':
      return `${name} to be ${bound('at least', Number(issue.minimum), issue.origin)}, got less`;
    case 'invalid_value':
      return `${name} to be one of ${issue.values.join(', ')}, got ${quote(valueAt(given, issue.path))}`;
    case 'unrecognized_keys':
      return `no ${issue.keys.slice(0, MAX_TOLD).map(quote).join(', ')}: there is nothing of that name`;
    default:
      return `another value of ${name}, got ${kindOf(valueAt(given, issue.path))}`;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
};

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  return kinds[typeof value] ?? typeof value;
}

function bound(direction: string, count: number, origin: string): string {
  const number = count.toLocaleString('en');
  if (origin === 'string') return `${direction} ${number} character${count === 1 ? '' : 's'} long`;
  return origin === 'array' ? `a list of ${direction} ${number}` : `${direction} ${number}`;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => Object(value)[key], given);
}
