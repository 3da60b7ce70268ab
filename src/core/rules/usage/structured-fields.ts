/*
 * Parses dictionaries of structured fields (RFC 9651 §4.2.2) strictly: one wrong byte makes the whole dictionary
 * invalid. Usage preferences need tokens only, so other values are reduced to their type, and parameters are only
 * checked.
 */

type OtherItem = 'integer' | 'decimal' | 'string' | 'byte-sequence' | 'boolean' | 'date' | 'display-string';

/** The value of a member: the text of a token, or the type of any other value. */
export type MemberValue =
  | { readonly type: 'token'; readonly token: string }
  | { readonly type: OtherItem | 'inner-list' };

const KEY = /[a-z*][a-z0-9_.*-]*/y;
/** §3.3.1, §3.3.2: up to 15 digits, or up to 12 and 1 to 3 after the point. */
const DECIMAL = /-?\d{1,12}\.\d{1,3}(?![\d.])/y;
const INTEGER = /-?\d{1,15}(?![\d.])/y;
const STRING = /"(?:[ !#-[\]-~]|\\["\\])*"/y;
const TOKEN = /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;
/** §4.2.7: "synthesizing padding if necessary". */
const BYTE_SEQUENCE = /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?:/y;
const BOOLEAN = /\?[01]/y;
const DATE = /@-?\d{1,15}(?![\d.])/y;
const DISPLAY_STRING = /%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y;
const OTHER_ITEMS: readonly (readonly [OtherItem, RegExp])[] = [
  ['string', STRING],
  ['boolean', BOOLEAN],
  ['integer', INTEGER],
  ['decimal', DECIMAL],
  ['date', DATE],
  ['byte-sequence', BYTE_SEQUENCE],
  ['display-string', DISPLAY_STRING],
];
/** A member without a value is true. */
const PRESENT: MemberValue = { type: 'boolean' };
const SPACES = / */y;
const OPTIONAL_WHITE_SPACE = /[ \t]*/y;

/** The text, and how far it has been read. */
class Input {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at === this.text.length;
  }

  /** Consumes and returns what `pattern` matches here; `undefined` if nothing. */
  take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    const taken = pattern.exec(this.text)?.[0];
    if (taken !== undefined) this.at += taken.length;
    return taken;
  }

  /** Consumes `character`; false if it is not here. */
  accepts(character: string): boolean {
    if (this.text[this.at] !== character) return false;
    this.at++;
    return true;
  }
}

/**
 * §4.2.2, Parsing a Dictionary. Of several members with one key the last counts.
 *
 * @returns `undefined` when `text` is not a dictionary.
 */
export function parseDictionary(text: string): ReadonlyMap<string, MemberValue> | undefined {
  const input = new Input(text);
  const dictionary = new Map<string, MemberValue>();
  input.take(SPACES);
  while (!input.isAtEnd) {
    const key = input.take(KEY);
    if (key === undefined) return undefined;
    const value = input.accepts('=') ? itemOrInnerList(input) : PRESENT;
    if (value === undefined || !parameters(input)) return undefined;
    dictionary.set(key, value);
    input.take(OPTIONAL_WHITE_SPACE);
    if (input.isAtEnd) break;
    if (!input.accepts(',')) return undefined;
    input.take(OPTIONAL_WHITE_SPACE);
    // "If input_string is empty, there is a trailing comma; fail parsing."
    if (input.isAtEnd) return undefined;
  }
  return dictionary;
}

/** §4.2.1.1, without the parameters after it. */
function itemOrInnerList(input: Input): MemberValue | undefined {
  return input.accepts('(') ? innerList(input) : bareItem(input);
}

/** §4.2.1.2, after the opening parenthesis. */
function innerList(input: Input): MemberValue | undefined {
  let separated = true;
  input.take(SPACES);
  while (!input.accepts(')')) {
    if (!separated || bareItem(input) === undefined || !parameters(input)) return undefined;
    separated = input.take(SPACES) !== '';
  }
  return { type: 'inner-list' };
}

/** §4.2.3.1. */
function bareItem(input: Input): MemberValue | undefined {
  const token = input.take(TOKEN);
  if (token !== undefined) return { type: 'token', token };
  for (const [type, pattern] of OTHER_ITEMS) {
    const item = input.take(pattern);
    if (item !== undefined) return type === 'display-string' && !isUtf8(item) ? undefined : { type };
  }
  return undefined;
}

/** §4.2.3.2. Returns whether they are well formed. */
function parameters(input: Input): boolean {
  while (input.accepts(';')) {
    input.take(SPACES);
    if (input.take(KEY) === undefined) return false;
    if (input.accepts('=') && bareItem(input) === undefined) return false;
  }
  return true;
}

/** Whether the percent escapes decode to valid UTF-8. */
function isUtf8(displayString: string): boolean {
  try {
    decodeURIComponent(displayString.slice(1));
    return true;
  } catch {
    return false;
  }
}
