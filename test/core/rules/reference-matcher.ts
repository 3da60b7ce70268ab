import type { Dialect } from '../../../src/core/rules/index.ts';

/*
 * The meaning of a file in the plainest words, from the standards alone. Slow, and for tests only: every matcher must
 * decide as this one does. Bytes are characters here, from U+0000 to U+00FF.
 */
const MISSPELT = /^(?:dissallow|dissalow|disalow|diasllow|disallaw)/;
const BLANKS = /^[ \t\v\f]+|[ \t\v\f]+$/g;
const SAME_IN_QUERY = new Set(":/?@'");
const UNRESERVED = /[A-Za-z0-9._~-]/;
const RESERVED = /[:/?#[\]@!$&'()*+,;=]/;
/** The `%` of an escape that stays one, and a `%` that starts none. */
const [ESCAPE, STRAY, SLASH_ESCAPE, LITERAL_STAR] = ['\u0100', '\u0101', '\u0102', '\u0103'] as const;
/** The dialects of the 1990s. */
const isOld = (dialect: Dialect): boolean => dialect === 'koster-1996' || dialect === 'robotstxt-1994';
/** An escape or a byte. */
const PART = /%[0-9A-Fa-f]{2}|[^]/g;
const unescaped = (part: string): string =>
  part.length === 3 ? String.fromCharCode(Number.parseInt(part.slice(1), 16)) : part;
const bytes = (text: string): string => Buffer.from(text).toString('latin1');
const hex = (byte: string): string => byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');
type Rule = Readonly<{ allow: boolean; pattern: string; line: number }>;

function linesOf(body: Uint8Array, dialect: Dialect): string[] {
  let text = Buffer.from(body).toString('latin1');
  const utf16 = /^(?:\xff\xfe|\xfe\xff)/.exec(text)?.[0];
  const decoder = new TextDecoder(utf16 === '\xff\xfe' ? 'utf-16le' : 'utf-16be');
  if (utf16 !== undefined && dialect !== 'google') text = bytes(decoder.decode(body));
  const mark = dialect === 'google' ? /^(?:\xef(?:\xbb\xbf?)?)?/ : /^(?:\xef\xbb\xbf)?/;
  return text.replace(mark, '').split(/\r\n|\n|\r/);
}

/** The key, `''` for one without effect, and the value. */
function splitLine(whole: string, dialect: Dialect): [string, string] {
  const line = (dialect === 'google' ? whole.slice(0, 16_663).replace(/\0.*/, '') : whole).replace(/#.*/, '');
  let colon = line.indexOf(':');
  if (colon < 0 && !isOld(dialect)) {
    const words = line.replaceAll(BLANKS, '').split(dialect === 'google' ? /[ \t]+/ : /[ \t\v\f]+/);
    if (words.length === 2) colon = line.indexOf(words[0]!) + words[0]!.length;
  }
  let value = colon < 0 ? '' : line.slice(colon + 1).replaceAll(BLANKS, '');
  // A control byte ends the value, and makes an `Allow` void.
  const control = dialect === 'rfc9309' ? /[\0-\x08\n-\x1f].*/.exec(value) : null;
  if (control !== null) value = value.slice(0, control.index).replaceAll(BLANKS, '');
  const key = colon < 0 ? '' : line.slice(0, colon).replaceAll(BLANKS, '').toLowerCase();
  const is = (name: RegExp): boolean => (dialect === 'google' ? name.test(key) : name.exec(key)?.[0] === key);
  if (is(/^user-agent/) || (!isOld(dialect) && is(/^(?:useragent|user agent)/))) return ['user-agent', value];
  if (is(/^allow/) && dialect !== 'robotstxt-1994') return ['allow', control === null ? value : ''];
  return [is(/^disallow/) || (!isOld(dialect) && is(MISSPELT)) ? 'disallow' : '', value];
}

/** What a user-agent line names: `agent` (lower case), everybody (`*`), or neither. */
function namesOf(value: string, agent: string, dialect: Dialect): string[] {
  return (dialect === 'rfc9309' ? value.split(',') : [value]).map((item) => {
    const text = item.replaceAll(BLANKS, '');
    if (/^\*(?:$|[ \t\v\f])/.test(text)) return '*';
    const name = (dialect === 'google' ? /^[A-Za-z_-]*/ : /^[A-Za-z0-9_.-]*/).exec(text)![0].toLowerCase();
    const isNamed = dialect === 'robotstxt-1994' ? agent.includes(name) : agent === name;
    return name !== '' && isNamed ? 'agent' : '';
  });
}

/** The rules that apply to `agent`, a product token in lower case. */
function rulesOf(body: Uint8Array, agent: string, dialect: Dialect): Rule[] {
  const rules: (Rule & { names: readonly string[] })[] = [];
  const all = new Set<string>();
  let names: string[] = [];
  let open = false;
  for (const [index, line] of linesOf(body, dialect).entries()) {
    const [key, value] = splitLine(line, dialect);
    if (key === 'user-agent') {
      names = [...(open ? names : []), ...namesOf(value, agent, dialect)];
      for (const name of names) all.add(name);
      open = true;
    } else if (key === 'allow' || key === 'disallow') {
      open = false;
      if (value !== '') rules.push({ allow: key === 'allow', pattern: value, line: index + 1, names });
    } else if (/^[ \t\v\f]*$/.test(line) && isOld(dialect)) [open, names] = [false, []];
  }
  return rules.filter((rule) => rule.names.includes(all.has('agent') ? 'agent' : '*'));
}

/** One symbol a byte; a `*` of a pattern stays one. `*` and `$` of a target equal their escapes. */
function symbolsOf(text: string, dialect: Dialect, isPattern: boolean): string[] {
  if (dialect === 'google' && !isPattern) return [...text];
  let inQuery = false;
  const symbols: string[] = [];
  for (const [part] of text.matchAll(PART)) {
    const byte = unescaped(part);
    if (dialect === 'google') {
      symbols.push(...(part.length === 3 ? part.toUpperCase() : part > '\x7f' ? `%${hex(part)}` : part));
    } else if (dialect !== 'rfc9309') symbols.push(part.length === 3 && byte === '/' ? SLASH_ESCAPE : byte);
    else if (part === '%') symbols.push(STRAY);
    else if (part === '*' && isPattern) symbols.push(part);
    else if (part.length === 3 && SAME_IN_QUERY.has(byte) && isPattern) symbols.push(ESCAPE + byte);
    else if (UNRESERVED.test(byte) || (inQuery && SAME_IN_QUERY.has(byte))) symbols.push(byte);
    else if (byte === '*') symbols.push(LITERAL_STAR);
    else if ((part.length === 1 && RESERVED.test(byte)) || byte === '$') symbols.push(byte);
    else symbols.push(ESCAPE, ...hex(byte));
    if (part === '?' && !isPattern) inQuery = true;
  }
  return symbols;
}

/** Bytes that count for precedence: 1 for what is raw or decoded, 3 for escapes and for what had to be encoded. */
function lengthOf(pattern: string, dialect: Dialect): number {
  if (dialect === 'google') return symbolsOf(pattern, dialect, true).length;
  const isOne = (part: string): boolean => part.length === 1 && (part === '%' || RESERVED.test(part));
  const length = (part: string): number => (isOne(part) || UNRESERVED.test(unescaped(part)) ? 1 : 3);
  return [...pattern.matchAll(PART)].reduce((sum, [part]) => sum + length(part), 0);
}

function matches(pattern: string, target: readonly string[], dialect: Dialect): boolean {
  const anchored = !isOld(dialect) && pattern.endsWith('$');
  const symbols = symbolsOf(anchored ? pattern.slice(0, -1) : pattern, dialect, true);
  const query = dialect === 'rfc9309' ? target.indexOf('?') : -1;
  let places = new Set([0]);
  for (const [index, symbol] of symbols.entries()) {
    const next = new Set<number>();
    // A `%` that starts no escape is that of one, too, unless the digits after it would make it an escape.
    const isOpen = symbol === STRAY && !/^[0-9A-F]{2}/i.test(symbols.slice(index + 1, index + 3).join(''));
    // A `*` may end anywhere from the first place on.
    const least = symbol === '*' && !isOld(dialect) ? Math.min(...places) : Infinity;
    for (let at = least; at <= target.length; at++) next.add(at);
    for (const place of least === Infinity ? places : []) {
      const folded = query >= 0 && place > query;
      const wanted = symbol.length === 1 ? [symbol] : folded ? [symbol[1]!] : [ESCAPE, ...hex(symbol[1]!)];
      if (wanted.every((each, at) => target[place + at] === each)) next.add(place + wanted.length);
      if (isOpen && target[place] === ESCAPE) next.add(place + 1);
    }
    places = next;
  }
  return anchored ? places.has(target.length) : places.size > 0;
}

/** Whether `target` (path and query) is allowed to `agent`, a product token, and the line that says so; 0 if none does. */
export function decide(body: Uint8Array, target: string, agent: string, dialect: Dialect): [boolean, number] {
  const text = bytes(target.replace(/#[^]*/, ''));
  if (text === '/robots.txt' && dialect !== 'google') return [true, 0];
  const symbols = symbolsOf(isOld(dialect) ? text.replace(/\?[^]*/, '') : text, dialect, false);
  let best: (Rule & { rank: number }) | undefined;
  for (const rule of rulesOf(body, agent.toLowerCase(), dialect)) {
    const index = rule.allow && dialect === 'google' ? /^(.*\/)index\.htm[^/]*$/s.exec(rule.pattern) : null;
    for (const pattern of [rule.pattern, ...(index === null ? [] : [`${index[1]!}$`])]) {
      const rank = isOld(dialect) ? 0 : lengthOf(pattern, dialect) * 2 + (rule.allow ? 1 : 0);
      if ((best === undefined || rank > best.rank) && matches(pattern, symbols, dialect))
        best = { ...rule, rank };
    }
  }
  return [best?.allow ?? true, best?.line ?? 0];
}
