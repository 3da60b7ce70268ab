import { readDate } from './date.ts';

/** One directive of a list. */
export interface Directive {
  /** The agent that the directive applies to, in lower case. Absent: it applies to all agents. */
  readonly agent?: string;
  /** The name of the directive, in lower case. */
  readonly name: string;
  /** The value as written. Absent: the directive has none. */
  readonly value?: string;
  /** The date of `unavailable_after` in epoch ms. Absent: another directive, or an invalid date. */
  readonly epochMs?: number;
}

/** Directives without a value: DeviantArt's `noai` and `noimageai`, Bing's `nocache`, and Google's. */
const BARE: ReadonlySet<string> = new Set([
  'all',
  'none',
  'index',
  'noindex',
  'follow',
  'nofollow',
  'archive',
  'noarchive',
  'cache',
  'nocache',
  'snippet',
  'nosnippet',
  'imageindex',
  'noimageindex',
  'translate',
  'notranslate',
  'indexifembedded',
  'noai',
  'noimageai',
]);
const VALUED: ReadonlySet<string> = new Set([
  'max-snippet',
  'max-image-preview',
  'max-video-preview',
  'unavailable_after',
]);

const SEPARATORS = /[\s,]*/y;
const NAME = /[^\s,:]+/y;
const COLON = /\s*:/y;
const WORD_VALUE = /\s*([^\s,]*)/y;
const UNTIL_COMMA = /[^,]*/y;
const WORD = /\s*([^\s,:]*)/y;

/** Whether the directive has no value and is known. */
export function isBareDirective({ name, value }: Directive): boolean {
  return value === undefined && BARE.has(name);
}

/**
 * Reads the directives of a robots meta tag or of an X-Robots-Tag line, in order. Commas or white space separate them.
 *
 * With `namesAgents` (the header), a name followed by a colon is an agent unless it is a directive with a value. It
 * must start the line, or a known directive must follow. The agent applies to all directives up to the next agent:
 * "googlebot: nofollow, otherbot: noindex, nofollow". When lines were joined with a comma, a line without an agent
 * cannot be distinguished from a line with an agent before it, and is read as part of that line.
 */
export function* readDirectives(text: string, namesAgents: boolean): Generator<Directive> {
  let at = 0;
  let agent: string | undefined;
  let isFirst = true;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match !== null) at += match[0].length;
    return match;
  };
  const named = (directive: Directive): Directive =>
    agent === undefined ? directive : { agent, ...directive };
  for (take(SEPARATORS); at < text.length; take(SEPARATORS)) {
    const begins = isFirst;
    isFirst = false;
    const name = take(NAME)?.[0].toLowerCase() ?? '';
    if (take(COLON) === null) {
      yield named({ name });
      continue;
    }
    if (name === 'unavailable_after') {
      const date = readDate(text, at);
      const start = at;
      if (date === undefined) take(UNTIL_COMMA);
      else at = date.end;
      const value = text.slice(start, at).trim();
      yield named({ name, value, ...(date !== undefined && { epochMs: date.epochMs }) });
      continue;
    }
    if (namesAgents && name !== '' && !VALUED.has(name) && !BARE.has(name)) {
      WORD.lastIndex = at;
      const next = WORD.exec(text)?.[1]?.toLowerCase() ?? '';
      if (BARE.has(next) || VALUED.has(next) || (begins && !/^\d/.test(next))) {
        agent = name;
        continue;
      }
    }
    yield named({ name, value: take(WORD_VALUE)?.[1] ?? '' });
  }
}
