import { RobotsInvalidOptionsError, show } from '../base/index.ts';
import type { DialectTraits } from './dialect.ts';
import { asCharacters, BLANK, equalsAt, GOOGLE_TOKEN, LOWER, STAR, TOKEN, utf8 } from './bytes.ts';
import { whoAsks } from './user-agent.ts';

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
