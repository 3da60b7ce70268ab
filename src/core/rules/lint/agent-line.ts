import { productToken } from '../agent.ts';
import type { Diagnostic } from './diagnostic.ts';

/** RFC 9309 §2.2.1: "only uppercase and lowercase letters ("a-z" and "A-Z"), underscores ("_"), and hyphens ("-")". */
export const TOKEN_OR_STAR: RegExp = /^(?:[A-Za-z_-]+|\*)$/;
const MAX_NAMES_SHOWN = 10;
/** Longer lists are not compared with what is read of them. */
const MAX_LIST = 200;

/** A version, or a comment in brackets. */
const USER_AGENT_STRING = /\/\d|\(/;
/** A second name in an item of a list, after white space or a separator. */
const FURTHER_NAME = /^[^\s;,|]+[\s;,|]+([A-Za-z][\w.-]*)/;

/** Names of crawlers are seldom words: they have a capital within, digits, or such an ending. */
const CRAWLER_NAME =
  /.(?:bot|spider|crawler|fetcher|archiver)$|[a-z][A-Z]|[A-Za-z]{2}[-_.]?\d|^[A-Z]{2,}[a-z]/;
const ORDINARY =
  /^(?:web|search|user|all|the|some|any|ro|mobile|seo)[-_ ]?(?:bots?|spiders?|crawlers?|engine)$/i;

/** A name in the value of a user-agent line that is not among the `names` read from it, and looks like one of a crawler. */
function ignoredName(value: string, names: readonly string[]): string | undefined {
  const found = USER_AGENT_STRING.test(value)
    ? [productToken(value)]
    : value.split(',').map((item) => FURTHER_NAME.exec(item.trim())?.[1]);
  const known = new Set(names.map((name) => name.toLowerCase()));
  return found.find(
    (name) =>
      name !== undefined && !known.has(name.toLowerCase()) && CRAWLER_NAME.test(name) && !ORDINARY.test(name),
  );
}

/** What is wrong with the value of a user-agent line that is no product token, and is read as these names. */
export function agentLineProblem(
  written: string,
  names: readonly string[],
): Pick<Diagnostic, 'code'> & Partial<Diagnostic> {
  const meant = names.slice(0, MAX_NAMES_SHOWN).join(', ');
  const code = 'agent-not-token';
  if (names.length === 1 && names[0] === written) return { code, severity: 'info', meant };
  const agent = ignoredName(written, names);
  if (agent !== undefined) return { code: 'ignored-name', agent, meant };
  if (names.length === 0) return { code, severity: 'error', meant };
  const isList =
    names.length > 1 && written.length <= MAX_LIST && names.join() === written.replaceAll(/\s*,\s*/g, ',');
  return isList ? { code, meant, kind: 'list' } : { code, meant };
}
