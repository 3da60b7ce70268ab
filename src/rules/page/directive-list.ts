import { readDate } from './date.ts';

/** One directive of a list. */
export interface Directive {
  /** In lower case, the agent that the directive is for; absent when it is for all. */
  readonly agent?: string;
  /** In lower case. */
  readonly name: string;
  /** As written; absent when the directive has none. */
  readonly value?: string;
  /** Of `unavailable_after`, when its date could be read. */
  readonly epochMs?: number;
}

/** Directives without a value. `noai` and `noimageai` are DeviantArt's, `nocache` is Bing's, the others are Google's. */
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

/** Whether the directive stands alone and is known. */
export function isBareDirective({ name, value }: Directive): boolean {
  return value === undefined && BARE.has(name);
}

/**
 * The directives of a robots meta tag or of an X-Robots-Tag line, in order. They are parted by commas or white space.
 *
 * With `namesAgents` (the header) a name with a colon behind it that is no directive with a value is an agent, if it begins
 * the line or a known directive follows. It holds for what comes after it, up to the next agent: "googlebot: nofollow,
 * otherbot: noindex, nofollow". Lines that were joined with a comma look the same, so an unscoped line behind a scoped
 * one cannot be told apart, and is taken for a part of it.
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
