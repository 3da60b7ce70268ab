/*
 * Parses dictionaries of structured fields (RFC 9651 §4.2.2) strictly: one wrong byte makes the whole dictionary
 * invalid. Usage preferences need tokens only, so other values and parameters are only checked.
 */

const KEY = /[a-z*][a-z0-9_.*-]*/y;
const TOKEN = /[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y;
const DISPLAY_STRING = /%"(?:[ !#$&-~]|%[0-9a-f]{2})*"/y;
const OTHER_ITEMS: readonly RegExp[] = [
  DISPLAY_STRING,
  // A string, a boolean.
  /"(?:[ !#-[\]-~]|\\["\\])*"/y,
  /\?[01]/y,
  // §3.3.1, §3.3.2: up to 15 digits, or up to 12 and 1 to 3 after the point. A date is an integer behind "@".
  /@?-?\d{1,15}(?![\d.])/y,
  /-?\d{1,12}\.\d{1,3}(?![\d.])/y,
  // §4.2.7: "synthesizing padding if necessary".
  /:(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?:/y,
];
/** The value of a member that is no token. */
const OTHER = '';
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
 * @returns the text of each token, and '' for any other value; `undefined` when `text` is not a dictionary.
 */
export function parseDictionary(text: string): ReadonlyMap<string, string> | undefined {
  const input = new Input(text);
  const dictionary = new Map<string, string>();
  input.take(SPACES);
  while (!input.isAtEnd) {
    const key = input.take(KEY);
    if (key === undefined) return undefined;
    const value = !input.accepts('=') ? OTHER : input.accepts('(') ? innerList(input) : bareItem(input);
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

/** §4.2.1.2, after the opening parenthesis. */
function innerList(input: Input): string | undefined {
  let separated = true;
  input.take(SPACES);
  while (!input.accepts(')')) {
    if (!separated || bareItem(input) === undefined || !parameters(input)) return undefined;
    separated = input.take(SPACES) !== '';
  }
  return OTHER;
}

/** §4.2.3.1. */
function bareItem(input: Input): string | undefined {
  const token = input.take(TOKEN);
  if (token !== undefined) return token;
  for (const pattern of OTHER_ITEMS) {
    const item = input.take(pattern);
    if (item !== undefined) return pattern === DISPLAY_STRING && !isUtf8(item) ? undefined : OTHER;
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
