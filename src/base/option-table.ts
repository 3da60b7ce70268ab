/**
 * Options are checked by tables: a check for each name. Written by hand, because a library of schemas would be half of
 * what importing the package takes.
 */
import { alternatives, invalid, unknownOptions } from './invalid-options.ts';

/**
 * Returns when `value` is as it must be.
 *
 * @param path Where the value stands, such as `cache.maxBytes`; '' for the options themselves.
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`), whose message names the option, what was expected
 *   and what came.
 */
export type Check = (value: unknown, path: string) => void;

/** A check by a predicate. `expected` completes "Expected `name` to be …". */
export function expecting(expected: string, holds: (value: unknown) => boolean): Check {
  return (value, path) => {
    if (!holds(value)) throw invalid(nameOf(path), expected, value);
  };
}

export const isFunction = (value: unknown): boolean => typeof value === 'function';

/** @param what Completes "a function …". */
export function aFunction(what = ''): Check {
  return expecting(`a function ${what}`.trimEnd(), isFunction);
}

/** Anything with a method of that name, such as a class of another library. */
export function anObjectWith(method: string, expected: string): Check {
  return expecting(expected, (value) => isFunction(Reflect.get(Object(value), method)));
}

/** A safe integer within the bounds, both included. */
export function wholeNumber(min: number, max: number, expected: string): Check {
  return expecting(
    expected,
    (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max,
  );
}

export const milliseconds: Check = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds');

export const anAbortSignal: Check = anObjectWith('throwIfAborted', 'an AbortSignal');

export function oneOf(names: readonly string[], expected: string = alternatives(names)): Check {
  return expecting(expected, (value) => names.some((name) => name === value));
}

/** The value may be left out. */
export function optional(check: Check): Check {
  return (value, path) => {
    if (value !== undefined) check(value, path);
  };
}

/** All of the checks, one after the other. */
export function allOf(...checks: readonly Check[]): Check {
  return (value, path) => {
    for (const check of checks) check(value, path);
  };
}

/** An object with the fields of a table, every one of them, and no others. */
export function fields(table: Readonly<Record<string, Check>>, expected = 'an object'): Check {
  const known = Object.keys(table);
  return (value, path) => {
    if (!isObject(value)) throw invalid(nameOf(path), expected, value);
    const unknown = Object.keys(value).filter((name) => !known.includes(name));
    if (unknown.length > 0) throw unknownOptions(unknown, known, path === '' ? '' : `${path}.`);
    for (const [name, check] of Object.entries(table)) check(Reflect.get(value, name), within(path, name));
  };
}

/** {@link fields}, of which any may be left out: what a table of options is. */
export function optionTable(table: Readonly<Record<string, Check>>, expected = 'an object'): Check {
  return fields(
    Object.fromEntries(Object.entries(table).map(([name, check]) => [name, optional(check)])),
    expected,
  );
}

/** An object with any keys. A `Map` or `Headers` is none: its entries are no properties, and would be overlooked. */
export function record(key: Check, value: Check): Check {
  return (entries, path) => {
    if (!isObject(entries) || !isPlain(entries)) throw invalid(nameOf(path), 'a plain object', entries);
    for (const name of Object.keys(entries)) {
      key(name, path);
      value(Reflect.get(entries, name), within(path, name));
    }
  };
}

/** A list. `expected` tells of one that is none, or empty although it must not be. */
export function listOf(each: Check, expected: string, minLength = 0): Check {
  return (value, path) => {
    if (!Array.isArray(value) || value.length < minLength) throw invalid(nameOf(path), expected, value);
    value.forEach((item: unknown, index) => each(item, within(path, String(index))));
  };
}

const nameOf = (path: string): string => (path === '' ? 'the options' : `\`${path}\``);

const within = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Of whatever realm. */
function isPlain(value: object): boolean {
  const parent: unknown = Object.getPrototypeOf(value);
  return parent === null || Object.getPrototypeOf(parent) === null;
}
