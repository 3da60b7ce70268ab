/** Control and format characters, which could move the cursor, recolour the terminal or reverse text; spaces that look like others. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;
const MAX_LENGTH = 400;

/** The text, or the beginning of one that is longer than `maxLength`, with an ellipsis. */
export function truncate(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** Makes text from outside (patterns, agents, paths) safe for a terminal: one line, truncated to `maxLength`. */
export function printable(text: string, maxLength: number = MAX_LENGTH): string {
  return truncate(text, maxLength).replace(UNPRINTABLE, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u{${hex(code, 4)}}`;
  });
}

/** Takes user names and passwords out of the URLs in a text. Those of servers such as Redis may hold a raw `/`, `?` or `#`. */
export function withoutUserinfo(text: string): string {
  return text
    .replace(/\b(https?|ftp):[/\\]*[^\s/\\?#"]*@/gi, '$1://')
    .replace(/\b(?!https?:|ftp:)(rediss?(?=:)|[a-z][a-z\d+.-]+(?=:[/\\])):[^\s"]*@/gi, '$1://');
}

/**
 * A URL without user name and password. `Location` fields are as the site wrote them: URL parsers skip white space within
 * `//`, and take `///user@host` for `//user@host`.
 */
export function urlWithoutUserinfo(url: string): string {
  return url.includes('@') ? url.replace(USERINFO, '$1') : url;
}

/**
 * URL Standard: "special authority ignore slashes state", tabs and newlines are removed, and "\\" counts as "/". A scheme that is
 * not known may be a slip (`htp:me:secret@host`).
 */
const USERINFO =
  /^(?!\s*mailto:)([\s\u0000-\u0020]*(?:[a-z][a-z\d+.\-\t\r\n]*:[\\/\t\r\n]*|[\\/][\t\r\n]*[\\/][\\/\t\r\n]*))[^\\/?#]*@/i;

/**
 * What was meant to be a URL, without user name and password. Of an invalid one these may have any characters, and no scheme
 * before them.
 */
export function withoutCredentials(text: string): string {
  return /^\s*mailto:/i.test(text) ? text : urlWithoutUserinfo(text.replace(CREDENTIALS, '$1'));
}

const CREDENTIALS = /^(\s*(?:[a-z][a-z\d+.-]*:[\\/]+)?)[^\\/?#]*:[^]*@/i;

/** Formats a file name as given. */
export function fileName(name: string): string {
  return name === '-' ? 'standard input' : printable(name);
}

/** Quotes text from outside. */
export function quoted(text: string): string {
  return `"${printable(text)}"`;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}

/**
 * Version of the JSON output. It is raised when a field changes its meaning or is removed, not when a field is added.
 */
export const SCHEMA_VERSION = 1;

/** Characters that JSON allows but terminals may interpret: DEL, C1 controls, format characters, line ends. */
const UNSAFE_IN_JSON = /[\u007F-\u009F\p{Cf}\p{Zl}\p{Zp}]/gu;

/**
 * Renders a line of NDJSON that starts with `schemaVersion`. Its escapes are safe for terminals and keep the data. JSON
 * leaves out fields that are undefined.
 */
export function jsonLine(record: object): string {
  const text = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...record });
  return `${escapeForTerminal(text)}\n`;
}

/** Escapes the characters of JSON that a terminal may interpret. They occur only in strings, so escapes are valid. */
export function escapeForTerminal(json: string): string {
  return json.replace(UNSAFE_IN_JSON, (character) =>
    Array.from(
      { length: character.length },
      (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** Formats a number with its noun: `1 redirect`, `2 redirects`. */
export function count(many: number, one: string, several = `${one}s`): string {
  return `${many.toLocaleString('en')} ${many === 1 ? one : several}`;
}

/** The first items of a list, and how many more there are: `a, b and 3 more`. */
export function someOf(items: readonly string[], most: number, separator = ', '): string {
  const more = items.length - most;
  const shown = items.slice(0, most).join(separator);
  return more > 0 ? `${shown} and ${more.toLocaleString('en')} more` : shown;
}
