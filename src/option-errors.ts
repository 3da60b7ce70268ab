import type { z } from 'zod';
import { quote } from './base/errors.ts';

/** The first thing that is wrong, in one line. */
export function explain(error: z.ZodError, options: unknown): string {
  const issue = deepest(error.issues[0]!);
  const value = issue.path.reduce<unknown>(
    (parent, key) => (parent === undefined || parent === null ? undefined : Reflect.get(Object(parent), key)),
    options,
  );
  if (issue.code === 'unrecognized_keys') {
    const names = (issue.keys ?? []).map((key) => `\`${[...issue.path, key].join('.')}\``).join(', ');
    return `Expected only known options, got ${names}`;
  }
  const name = issue.path.length === 0 ? 'the options' : `\`${issue.path.join('.')}\``;
  // A key that is none says what it should be in an issue of its own.
  const expected = issue.issues?.[0]?.message ?? issue.message;
  const got = typeof value === 'object' && value !== null ? show(value) : `${quote(value)} (${typeof value})`;
  return `Expected ${name} to be ${expected.replace(/^Invalid input: expected (.*?)(?:, received .*)?$/, '$1')}, got ${got}`;
}

export function show(value: object): string {
  try {
    return quote(JSON.stringify(value) ?? 'an object');
  } catch {
    return 'an object';
  }
}

export type Issue = Pick<z.core.$ZodIssue, 'code' | 'message' | 'path'> & {
  readonly keys?: readonly string[];
  readonly issues?: readonly { readonly message: string }[];
};

/** Of the branches of a union, the one that came furthest says best what is wrong. */
export function deepest(issue: z.core.$ZodIssue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  let best: Issue = issue;
  for (const branch of issue.errors) {
    const first = branch[0];
    if (first === undefined) continue;
    const inner = deepest(first);
    const path = [...issue.path, ...inner.path];
    if (best === issue || path.length > best.path.length || inner.code === 'custom')
      best = { ...inner, path };
  }
  return best;
}
