/*
 * Parses dictionaries of structured fields (RFC 9651 §4.2.2) strictly: one wrong byte makes the whole dictionary
 * invalid. Usage preferences need tokens only, so other values and parameters are only checked.
 */

const KEY = '[a-z*][a-z0-9_.*-]*';
const TOKEN = "[A-Za-z*][\\w!#$%&'*+.^`|~:/-]*";
/** Percent escapes that decode to valid UTF-8 (RFC 3629 §4). `&` stands for a byte after the first. */
const UTF8_ESCAPES = [
  '%[0-7][0-9a-f]|%(?:c[2-9a-f]|d[0-9a-f])&|%e0%[ab][0-9a-f]&|%e[1-9a-cef]&&|%ed%[89][0-9a-f]&',
  '%f0%[9ab][0-9a-f]&&|%f[123]&&&|%f4%8[0-9a-f]&&',
]
  .join('|')
  .replaceAll('&', '%[89ab][0-9a-f]');
const OTHER_ITEMS = [
  // A display string, a string, a boolean.
  `%"(?:[ !#$&-~]|${UTF8_ESCAPES})*"`,
  String.raw`"(?:[ !#-[\]-~]|\\["\\])*"`,
  String.raw`\?[01]`,
  // §3.3.1, §3.3.2: up to 15 digits, or up to 12 and 1 to 3 after the point. A date is an integer behind "@".
  String.raw`@?-?\d{1,15}(?![\d.])`,
  String.raw`-?\d{1,12}\.\d{1,3}(?![\d.])`,
  // §4.2.7: "synthesizing padding if necessary".
  ':(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?:',
].join('|');
const PARAMETERS = `(?:; *${KEY}(?:=(?:${TOKEN}|${OTHER_ITEMS}))?)*`;
const INNER_LIST = String.raw`\( *(?:(?:${TOKEN}|${OTHER_ITEMS})${PARAMETERS}(?: +|(?=\))))*\)`;
/** A member, and what follows it: the end, or a comma. "If input_string is empty, there is a trailing comma; fail parsing." */
const MEMBER = new RegExp(
  `(${KEY})(?:=(?:(${TOKEN})|${OTHER_ITEMS}|${INNER_LIST}))?${PARAMETERS}[ \\t]*(?:,[ \\t]*(?=[^ \\t])|$)`,
  'y',
);

/**
 * §4.2.2, Parsing a Dictionary. Of several members with one key the last counts.
 *
 * @returns the text of each token, and '' for any other value; `undefined` when `text` is not a dictionary.
 */
export function parseDictionary(text: string): ReadonlyMap<string, string> | undefined {
  const dictionary = new Map<string, string>();
  MEMBER.lastIndex = text.search(/[^ ]|$/);
  while (MEMBER.lastIndex < text.length) {
    const [, key, token = ''] = MEMBER.exec(text) ?? [];
    if (key === undefined) return undefined;
    dictionary.set(key, token);
  }
  return dictionary;
}
