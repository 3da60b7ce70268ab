import type { Decision } from '../../../core/decision/index.ts';
import type { UnavailableReason } from '../../../core/lifecycle/index.ts';
import type { ReportedDecision } from '../input/targets.ts';
import { count } from './layout.ts';
import { purposeSentence, ruleText } from './sentences.ts';
import type { z } from 'zod';
import { closestChoice, quote, printable } from '../../../core/base/index.ts';

/**
 * Reasons and error codes in words: one table for the command, the service's page, the tools for AI agents and replay.
 * `what` is the reason, `so` its consequence.
 */
export const reasons: Readonly<Record<Decision['reason'], { readonly what: string; readonly so?: string }>> =
  {
    rule: { what: 'a rule matches' },
    'no-rule': { what: 'no rule matches', so: 'the URL is allowed' },
    'no-group': { what: 'no group names the agent, and there is no "*" group', so: 'the URL is allowed' },
    'robots-txt': { what: '/robots.txt itself may always be fetched' },
    unavailable: { what: 'robots.txt is unavailable', so: 'everything is allowed' },
    unreachable: { what: 'robots.txt is unreachable', so: 'nothing may be fetched until it is back' },
    'unreachable-expired': {
      what: 'robots.txt has been unreachable for too long',
      so: 'it counts as absent',
    },
    'unreachable-allowed': {
      what: 'robots.txt is unreachable',
      so: 'the profile allows everything meanwhile',
    },
    restricted: { what: 'access to robots.txt is restricted', so: 'the whole site is disallowed' },
    override: { what: 'overridden by the crawler' },
  };

/** Error codes of the request for robots.txt. The command shows the code beside the words, so that it can be searched for. */
export const failures: Readonly<Record<string, string>> = {
  ERR_ROBOTS_DEADLINE: 'the server took too long to respond',
  ERR_ROBOTS_NOT_MODIFIED: 'the server said “unchanged” (status 304) instead of sending the file',
  ERR_ROBOTS_NO_FTP_TRANSPORT: 'there is no FTP transport',
  ERR_ROBOTS_REDIRECT_LOCATION: 'the server redirects to an address that is not valid',
  ERR_ROBOTS_REDIRECT_SCHEME: 'the server redirects to an address that is neither http nor https',
  ERR_ROBOTS_REDIRECT_OPAQUE: 'the server redirects without saying where to',
  ERR_ROBOTS_REDIRECT_LIMIT: 'the server redirects too many times',
  ERR_ROBOTS_REDIRECT_LOOP: 'the server redirects in a circle',
  ERR_ROBOTS_ADDRESS_REFUSED: 'the server redirects from a public to a private address',
  ERR_ROBOTS_ADDRESS_UNKNOWN: 'a proxy hides the address, and only public addresses are allowed',
  ERR_ROBOTS_PROXY: 'a proxy refused the request',
  ERR_ROBOTS_CHALLENGE: 'a bot protection responded instead of the site',
  ERR_ROBOTS_HTTP2_ONLY: 'the server speaks HTTP/2 only',
  ERR_ROBOTS_CONTENT_CODING: 'the file is compressed in a way that cannot be read',
  ERR_ROBOTS_TRAILING_BYTES: 'unexpected bytes follow the compressed file',
  ERR_ROBOTS_TRANSFER_CODING: 'the transfer coding of the file cannot be read',
  ERR_ROBOTS_PARTIAL_CONTENT: 'only part of the file arrived',
  ERR_ROBOTS_NOT_TEXT: 'the file is not text',
  ERR_ROBOTS_MALFORMED: 'the response is not valid HTTP or FTP',
  ERR_ROBOTS_FETCH_FAILED: 'the connection failed',
  ERR_ROBOTS_FTP_CLOSED: 'the FTP server closed the connection',
  ERR_ROBOTS_FTP_REPLY_LIMIT: 'the reply of the FTP server is too long',
  ENOTFOUND: 'the host name does not exist',
  EAI_AGAIN: 'the host name cannot be looked up right now',
  ECONNREFUSED: 'the server refused the connection',
  ECONNRESET: 'the server reset the connection',
  ETIMEDOUT: 'the server did not respond',
  UND_ERR_SOCKET: 'the server closed the connection without a response',
  UND_ERR_CONNECT_TIMEOUT: 'the server did not respond',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
};

/** Why redirects of robots.txt led to no file, for profiles that read that as unavailable. */
export const redirectEnds: Readonly<Record<UnavailableReason, string>> = {
  'too-many-redirects': 'the server redirects too many times',
  'redirect-loop': 'the server redirects in a circle',
  'disallowed-redirect': 'the server redirects to a URL that the rules of its site disallow',
};

/** For the same code when the first address was refused, not the address of a redirect. */
export const PRIVATE_ADDRESS = 'its address is private; --allow-private permits such addresses';

/** Describes the outcome of the fetch of robots.txt: a status, a failure, or both. */
export function cause(robots: ReportedDecision['robots']): string {
  if (!('finalUrl' in robots)) return printable(robots.file);
  const { status, error, unavailable, hops } = robots;
  const ended = unavailable && redirectEnds[unavailable];
  const failure = error === undefined || error === 'ERR_ROBOTS_STATUS' ? ended : inWords(error, hops);
  if (status === undefined) return failure ?? 'no response';
  const redirects = status >= 300 && status < 400 && hops > 0 ? ` after ${count(hops, 'redirect')}` : '';
  return failure === undefined ? `${status}${redirects}` : `${status}${redirects}, ${failure}`;
}

function inWords(code: string, redirects: number): string {
  const isDirect = code === 'ERR_ROBOTS_ADDRESS_REFUSED' && redirects === 0;
  const text = isDirect ? PRIVATE_ADDRESS : failures[code];
  return text === undefined ? printable(code) : `${text}, ${code}`;
}

/** The fields that the sentences use; decisions and policies both have them. */
interface KnownState {
  readonly state: Decision['state'];
  readonly reason?: ReportedDecision['reason'] | undefined;
  readonly robots: ReportedDecision['robots'];
  readonly because?: string | undefined;
}

/** Explains the state; `undefined` when the rules of a fresh file explain it fully. */
export function whySentence({ reason, state, robots, because }: KnownState): string | undefined {
  switch (reason) {
    case 'robots-txt':
      return reasons[reason].what;
    case 'unavailable':
    case 'unreachable':
    case 'unreachable-expired':
    case 'unreachable-allowed':
    case 'restricted': {
      const { what, so } = reasons[reason];
      return `${what} (${cause(robots)}), so ${so}`;
    }
    case 'override':
      return because === undefined ? reasons[reason].what : `overridden: ${printable(because)}`;
    case 'rule':
    case 'no-rule':
    case 'no-group':
    case undefined:
      return state === 'last-good'
        ? `robots.txt is unreachable (${cause(robots)}); the last good copy is used`
        : undefined;
  }
}

/** The reason on a part of a line: `line 3  Disallow: /private`, `unreachable: 503`. */
export function reasonText({ reason, state, robots, rule, usage, ...more }: ReportedDecision): string {
  const copy = state === 'last-good' ? ' (last good copy)' : '';
  switch (reason) {
    case 'rule':
    case 'no-rule':
    case 'no-group':
      if (more.allowed && usage?.preference === 'disallow') return purposeSentence(usage);
      return `${rule === undefined ? reasons[reason].what : ruleText(rule)}${copy}`;
    case 'robots-txt':
      return reasons[reason].what;
    case 'override':
      return whySentence({ reason, state, robots, ...more }) ?? reason;
    case 'unavailable':
    case 'unreachable':
    case 'unreachable-expired':
    case 'unreachable-allowed':
    case 'restricted':
      return `${reason}: ${cause(robots)}`;
  }
}

/** More would not help: the first ones often cause the others. */
const MAX_TOLD = 3;

/** Says in plain words what a schema expected of `given`, and what came. */
export function inputSentence({ issues }: z.ZodError, given: unknown): string {
  const told = issues.slice(0, MAX_TOLD).map((issue) => issueSentence(issue, given));
  return `Expected ${told.join('; expected ')}`;
}

function issueSentence(issue: z.core.$ZodIssue, given: unknown): string {
  const name = issue.path.length === 0 ? 'the whole' : `\`${issue.path.map(String).join('.')}\``;
  switch (issue.code) {
    case 'invalid_type':
      return `${name} to be ${kinds[issue.expected] ?? issue.expected}, got ${kindOf(valueAt(given, issue.path))}`;
    case 'too_big':
      return `${name} to be ${bound('at most', Number(issue.maximum), issue.origin)}, got more`;
    case 'too_small':
      return `${name} to be ${bound('at least', Number(issue.minimum), issue.origin)}, got less`;
    case 'invalid_value': {
      const got = valueAt(given, issue.path);
      const meant = closestChoice(got, issue.values.map(String));
      const proposal = meant === undefined ? '' : `; did you mean ${meant}?`;
      return `${name} to be one of ${issue.values.join(', ')}, got ${quote(got)}${proposal}`;
    }
    case 'invalid_union':
      return `${name} to be ${issue.message}, got ${kindOf(valueAt(given, issue.path))}`;
    case 'unrecognized_keys':
      return `no ${issue.keys.slice(0, MAX_TOLD).map(quote).join(', ')}: there is nothing of that name`;
    default:
      return `another value of ${name}, got ${kindOf(valueAt(given, issue.path))}`;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
};

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number') return String(value);
  return kinds[typeof value] ?? typeof value;
}

function bound(direction: string, count: number, origin: string): string {
  const number = count.toLocaleString('en');
  if (origin === 'string') return `${direction} ${number} character${count === 1 ? '' : 's'} long`;
  return origin === 'array' ? `a list of ${direction} ${number}` : `${direction} ${number}`;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>((value, key) => Object(value)[key], given);
}
