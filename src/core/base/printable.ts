/** Control and format characters, which could move the cursor, recolour the terminal or reverse text. */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
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

/** URL Standard: "special authority ignore slashes state", tabs and newlines are removed, and "\\" counts as "/". */
const USERINFO =
  /^([\s\u0000-\u0020]*(?:[a-z][a-z\d+.\-\t\r\n]*:[\\/\t\r\n]*|[\\/][\t\r\n]*[\\/][\\/\t\r\n]*))[^\\/?#]*@/i;

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
