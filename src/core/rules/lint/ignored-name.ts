import { productToken } from '../agent.ts';

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
export function ignoredName(value: string, names: readonly string[]): string | undefined {
  const found = USER_AGENT_STRING.test(value)
    ? [productToken(value)]
    : value.split(',').map((item) => FURTHER_NAME.exec(item.trim())?.[1]);
  const known = new Set(names.map((name) => name.toLowerCase()));
  return found.find(
    (name) =>
      name !== undefined && !known.has(name.toLowerCase()) && CRAWLER_NAME.test(name) && !ORDINARY.test(name),
  );
}
