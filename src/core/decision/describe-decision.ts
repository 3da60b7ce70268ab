import { invalid, isText, printable, urlWithoutUserinfo } from '../base/index.ts';
import { isAbsent, type UnavailableReason } from '../lifecycle/index.ts';
import type { Decision, DecisionUsage } from './decision.ts';
import type { RobotsSource } from './robots-source.ts';

/**
 * Reasons and error codes in words: one table for guards, the command, the service's page, the tools for AI agents and replay.
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
    override: { what: 'the crawler has its own answer for this site, in place of robots.txt' },
  };

/** Error codes of the request for robots.txt. The code is shown beside the words, so that it can be searched for. */
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

/** What the caller can do about a failure. */
const REMEDIES: Readonly<Record<string, string>> = {
  ERR_ROBOTS_HTTP2_ONLY: '; give the client `dispatcher: new Agent({ allowH2: true })`',
  ERR_ROBOTS_NO_FTP_TRANSPORT: '; give the client `ftp: ftpTransport()` of canfetch/ftp',
};

/** For the same code when the first address was refused, not the address of a redirect. */
export const PRIVATE_ADDRESS =
  "its address is private; `addressPolicy: 'any'`, or --allow-private, permits such addresses";

/** Describes the outcome of the fetch of robots.txt: a status, a failure, or both. */
export function describeOutcome({
  status,
  error,
  detail,
  unavailable,
  hops,
}: Pick<RobotsSource, 'status' | 'error' | 'detail' | 'unavailable' | 'hops'>): string {
  const ended = unavailable && redirectEnds[unavailable];
  const failure = error === undefined || error === 'ERR_ROBOTS_STATUS' ? ended : inWords(error, hops, detail);
  if (status === undefined) return failure ?? 'no response';
  const redirects =
    status >= 300 && status < 400 && hops > 0 ? ` after ${hops} redirect${hops === 1 ? '' : 's'}` : '';
  return failure === undefined ? `${status}${redirects}` : `${status}${redirects}, ${failure}`;
}

function inWords(code: string, redirects: number, detail: string | undefined): string {
  const isDirect = code === 'ERR_ROBOTS_ADDRESS_REFUSED' && redirects === 0;
  const text = isDirect ? PRIVATE_ADDRESS : detailed(code, detail);
  return text === undefined ? printable(code) : `${text}, ${code}`;
}

function detailed(code: string, detail: string | undefined): string | undefined {
  if (detail === undefined) return failures[code];
  const text = printable(detail);
  if (code === 'ERR_ROBOTS_FETCH_FAILED') return `the request failed: "${text}"`;
  return code === 'ERR_ROBOTS_PROXY'
    ? `no connection to the proxy (${text})`
    : failures[code]?.replace('the server', () => text);
}

/**
 * Says a decision in one sentence, as the refusals of guards and the command do. It names the URL, the agent where that
 * matters, the rule with its line, and for robots.txt that could not be read the failure and when to try again.
 *
 * @example
 * describeDecision(await robots.check('https://example.com/private'));
 * // robots.txt of https://example.com disallows https://example.com/private for ExampleBot (line 2: "disallow: /private")
 */
export function describeDecision(decision: Decision): string {
  assertDecision(decision);
  const { origin, agent, allowed, usage } = decision;
  const url = urlWithoutUserinfo(decision.url);
  const may = allowed ? 'may be fetched' : 'may not be fetched';
  // Header fields of a page may state a preference where there is no robots.txt.
  if (allowed && usage !== undefined && usage.preference !== 'allow')
    return `${origin} allows ${agent} to fetch ${url}, and ${usageText(usage)}`;
  switch (decision.reason) {
    case 'rule':
    case 'no-rule':
    case 'no-group': {
      const { rule } = decision;
      const why = rule
        ? `line ${rule.line}: "${rule.directive}: ${rule.pattern}"`
        : reasons[decision.reason].what;
      return `robots.txt of ${origin} ${allowed ? 'allows' : 'disallows'} ${url} for ${agent} (${why})`;
    }
    case 'robots-txt':
      return `${url} is robots.txt itself, which may always be fetched`;
    case 'override': {
      const { because } = { because: undefined, ...decision };
      const why = because === undefined ? '' : ` (${printable(because)})`;
      return `${url} ${may} by ${agent}: ${reasons.override.what}${why}`;
    }
    case 'unavailable':
    case 'unreachable':
    case 'unreachable-expired':
    case 'unreachable-allowed':
    case 'restricted': {
      const what = reasons[decision.reason].what.replace('robots.txt', `robots.txt of ${origin}`);
      const remedy = REMEDIES[decision.robots.error ?? ''] ?? '';
      const again = decision.reason === 'unreachable' ? untilWhen(decision) : '';
      return `${what} (${describeOutcome(decision.robots)}), so ${url} ${may}${remedy}${again}`;
    }
  }
}

/** @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) */
export function assertDecision(value: unknown): asserts value is Decision {
  const { url, origin, robots, reason }: Partial<Record<string, unknown>> = { ...Object(value) };
  if (isText(url) && isText(origin) && isText(reason) && typeof robots === 'object') return;
  throw invalid('the decision', 'one that `check` or `peek` gave', value);
}

function untilWhen({ retryAt, robots }: Decision): string {
  if (retryAt !== undefined) return `; retry after ${new Date(retryAt).toISOString()}`;
  return isAbsent(robots) ? '; a second try failed, too, so this is for good' : '';
}

/** What the site states about a purpose, and where. */
function usageText({ purpose, preference, source }: DecisionUsage): string {
  if (preference === 'unknown') return `says nothing about ${purpose}`;
  const place = source?.line === undefined ? 'header field' : `robots.txt line ${source.line}`;
  return `disallows ${purpose} (${place} "${source?.directive}: ${source?.value.slice(0, 200)}")`;
}
