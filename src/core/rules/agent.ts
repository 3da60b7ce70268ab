import { RobotsInvalidOptionsError, show } from '../base/index.ts';
import type { DialectTraits } from './dialect.ts';
import { asCharacters, BLANK, equalsAt, GOOGLE_TOKEN, LOWER, STAR, TOKEN, utf8 } from './bytes.ts';

/**
 * The product token of an agent: the whole string if it is one (`ExampleBot`), the first product of a
 * User-Agent string (`ExampleBot/1.0 (+https://example.com/bot)`), or the bot that it names behind a browser
 * (`Mozilla/5.0 (compatible; ExampleBot/1.0; …)`, `Mozilla/5.0 (X11) … Safari/537.36 ExampleBot/1.0`). Of a string with
 * nothing but browsers and platforms it is the first of them.
 *
 * RFC 9309 §2.2.1 allows only letters, `_` and `-`; digits and dots are accepted too, because a fifth of the
 * names in real files have them (`MJ12bot`, `archive.org_bot`).
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) for anything but a string.
 * @returns `undefined` when the string has no product token: it is empty, a URL, `"*"`, or a name with letters outside
 *   ASCII (`jävla-bot` is not `j`).
 */
export function productToken(agent: string): string | undefined {
  if (typeof agent !== 'string')
    throw new RobotsInvalidOptionsError(`Expected a string or a list of strings, got ${show(agent)}`);
  return whoAsks(agent)?.token;
}

/* A crawler asks for the same agent again and again. */
let lastAgent = '';
let lastTraits: DialectTraits | undefined;
let lastBytes: Uint8Array = new Uint8Array(0);

/** The bytes that user-agent lines are compared with, in lower case. Empty when no name can match. */
export function callerAgent(agent: string, traits: DialectTraits): Uint8Array {
  if (agent !== lastAgent || traits !== lastTraits) {
    const token = productToken(agent);
    const name = traits.callerAgent === 'as-given' ? agent : (token ?? '');
    lastBytes = utf8.encode(name).map((byte) => LOWER[byte]!);
    lastAgent = agent;
    lastTraits = traits;
  }
  return lastBytes;
}

export const NAMES_NONE = 0;
export const NAMES_AGENT = 1;
export const NAMES_ALL = 2;

/** The agents that a user-agent line names: a combination of {@link NAMES_AGENT} and {@link NAMES_ALL}. */
export function agentLineNames(
  bytes: Uint8Array,
  start: number,
  end: number,
  agent: Uint8Array,
  traits: DialectTraits,
): number {
  if (traits.agentNames !== 'token-list') return itemNames(bytes, start, end, agent, traits);
  // NOTE(rfc9309): the grammar has one token per line. 0.3 % of files list several, separated by commas (reported
  // erratum 8895); each one is read.
  let names = NAMES_NONE;
  let itemStart = start;
  for (let at = start; at <= end; at++) {
    if (at < end && bytes[at] !== 0x2c) continue;
    names |= itemNames(bytes, itemStart, at, agent, traits);
    itemStart = at + 1;
  }
  return names;
}

function itemNames(
  bytes: Uint8Array,
  start: number,
  end: number,
  agent: Uint8Array,
  traits: DialectTraits,
): number {
  while (start < end && BLANK[bytes[start]!] === 1) start++;
  // "A '*' followed by space and more characters … is still regarded a global rule" (google/robotstxt).
  if (start < end && bytes[start] === STAR && (start + 1 === end || BLANK[bytes[start + 1]!] === 1))
    return NAMES_ALL;
  const nameEnd = agentNameEnd(bytes, start, end, traits);
  const matches =
    traits.agentMatch === 'whole'
      ? nameEnd - start === agent.length && equalsAt(bytes, start, agent, 0, agent.length)
      : // robotstxt-1994: the line's name is a substring of the caller's.
        start < nameEnd &&
        asCharacters(agent).includes(asCharacters(bytes.subarray(start, nameEnd)).toLowerCase());
  // An empty name or agent matches nothing, except in google/robotstxt, where two empty ones are equal.
  return matches && (agent.length > 0 || traits.agentNames === 'google') ? NAMES_AGENT : NAMES_NONE;
}

/** The end of the name at `start`: its longest leading run of token characters. */
function agentNameEnd(bytes: Uint8Array, start: number, end: number, traits: DialectTraits): number {
  const characters = traits.agentNames === 'google' ? GOOGLE_TOKEN : TOKEN;
  while (start < end && characters[bytes[start]!] === 1) start++;
  return start;
}

/*
 * Who is asking, by a User-Agent string (RFC 9110 §10.1.5): a bot's name is in front, or somewhere behind the names of a
 * browser and its platform. The forms are those of 2,118 real strings (npm `crawler-user-agents`).
 */

export const WHOLE_TOKEN: RegExp = /^[\w.-]+$/;
/**
 * A run of token characters. Before a letter outside ASCII, or a combining mark, it is part of a name and no token.
 */
const TOKEN_HERE = /[\w.-]+(?![\w.\-\p{L}\p{M}])/uy;

/** Browsers, their engines, platforms and devices, and languages with libraries that fetch. */
const NO_BOT = new RegExp(
  `^(?:${[
    'mozilla|mozzila|gecko|like|applewebkit|trident|presto|version|mobile|compatible|chrome|chromium|headlesschrome|safari',
    'firefox|crios|fxios|edgios|edg[ea]?|opera|op[rtx]|msie|iemobile|gsa|ddg|duckduckgo|brave|silk|vivaldi|konqueror|seamonkey',
    'thunderbird|electron|phantomjs|qtwebengine|(?:ya|uc|samsung|up\\.)browser|dalvik|docomo|(?:nokia|samsung|blackberry|kddi).*|profile',
    'configuration|mmp|windows|win64|wow64|x64|linux|x11|u|ubuntu|fedora|android|iphone|darwin|cfnetwork|sv1|touch|infopath.*|slcc1',
    'python|ruby|java|perl|php|v?[\\d.]+|[.-]+',
  ].join('|')})$`,
  'i',
);
/** A comment (RFC 9110 §5.6.5), which may hold others. */
const COMMENT = /(\((?:[^()]|\([^()]*\))*\)?)/;
/** One word, and no language (`en-US`). */
const ONE_WORD = /^(?![a-z]{2}(?:-[a-z]{2})?$)[\w.-]+(?:\/\S*)?(?: \+\S+)?$/i;
const VERSIONED = /^[\w.-]+\/v?\d/;
/** What ends in `bot`, before a version. */
const ROBOT = /^(?:.*\s)?([\w.-]*(?:bot|spider|crawler))[\d.]*(?:[/ ][\d.]+[a-z]*)?$/i;
const ROBOT_ALONE = /^(?:ro)?bot$|^spider$|^crawler$/i;
/** More words in a row, without a version, are prose. */
const MAX_WORDS = 2;

/** How a name is found: the first of these forms that fits counts. */
const IS_COMPATIBLE = 0;
const IS_ROBOT = 1;
const HAS_ADDRESS = 2;
const IS_LAST = 3;
const IS_VERSIONED = 4;
const NONE = 5;

/** Who is asking. */
export interface Asking {
  readonly token: string;
  /** `browser`: only browsers and platforms are named. `space`: the name has further words, which are not read. */
  readonly doubt?: 'browser' | 'space';
}

/** Reads a User-Agent string; `undefined` when it has no product token. The time is linear in its length. */
export function whoAsks(agent: string): Asking | undefined {
  if (WHOLE_TOKEN.test(agent)) return { token: agent };
  const text = agent.trim().replaceAll(/[([]at[)\]]/gi, '@');
  const token = tokenAt(text);
  if (token === undefined || text.startsWith('://', token.length)) return undefined;
  // Comments are at the odd places.
  const pieces = text.split(COMMENT);
  if (!NO_BOT.test(token)) return { ...productsOf(pieces[0]!)[0], token };
  let found: Asking = { token, doubt: 'browser' };
  let form = NONE;
  const take = (asking: Asking, its: number): void => {
    // The last product, and the first item of comments.
    if (its < form || (its === form && (its === HAS_ADDRESS || its === IS_LAST)))
      [found, form] = [asking, its];
  };
  for (const [at, piece] of pieces.entries()) {
    if (at % 2 === 1) readComment(piece, take);
    else
      for (const product of productsOf(piece))
        take(product, pieces[at + 1]?.includes('http') ? HAS_ADDRESS : IS_LAST);
  }
  return found;
}

function readComment(comment: string, take: (asking: Asking, form: number) => void): void {
  let isFirst = false;
  let isCompatible = false;
  const items = itemsOf(comment.replaceAll(/^\(|\)$/g, ''));
  for (const [at, item] of items.entries()) {
    const token = botAt(item);
    if (token !== undefined) {
      if (isFirst || (isCompatible && ONE_WORD.test(item))) take({ token }, IS_COMPATIBLE);
      const robot = item.includes('@') ? undefined : ROBOT.exec(item)?.[1];
      if (robot !== undefined) take({ token: ROBOT_ALONE.test(robot) ? token : robot }, IS_ROBOT);
      else if (/^https?:/.test(items[at + 1] ?? '')) take({ token }, IS_ROBOT);
      else if (VERSIONED.test(item)) take({ token }, IS_VERSIONED);
    }
    isFirst = /^compatible$/i.test(item);
    isCompatible ||= isFirst;
  }
}

/** The products outside comments: runs of words, up to a version. */
function productsOf(text: string): readonly Asking[] {
  const products: Asking[] = [];
  for (const item of itemsOf(text)) {
    let run: string[] = [];
    const end = (isVersioned: boolean): void => {
      const [token] = run;
      if (token !== undefined && (isVersioned || run.length <= MAX_WORDS))
        products.push(isVersioned && run.length > 1 ? { token, doubt: 'space' } : { token });
      run = [];
    };
    for (const word of item.split(/\s+\+?/)) {
      const token = botAt(word);
      if (token !== undefined) run.push(token);
      else if (word.endsWith(':')) run = [];
      if (token === undefined || word[token.length] === '/') end(token !== undefined);
    }
    end(false);
  }
  return products;
}

/** The items of a list, without the `+` that some write before them. Some write a comma, or nothing, after "compatible". */
function itemsOf(list: string): string[] {
  return list.split(/[;,]|(?<=compatible) /i).map((item) => item.replace(/^[\s+]+/, '').trimEnd());
}

/** The bot that is named at the start of `text`. */
function botAt(text: string): string | undefined {
  const token = tokenAt(text);
  if (token === undefined || NO_BOT.test(token)) return undefined;
  // An e-mail address, a URL, or prose.
  return /^[^\s/]*[@:]/.test(text.slice(token.length)) ? undefined : token;
}

function tokenAt(text: string): string | undefined {
  TOKEN_HERE.lastIndex = 0;
  return TOKEN_HERE.exec(text)?.[0];
}
