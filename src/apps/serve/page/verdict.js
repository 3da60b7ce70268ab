// @ts-check
// Displays one verdict: the banner, the facts that it rests on, and what happens to the origin over time.
import { element, foreign, many } from './elements.js';
import { failures, PRIVATE_ADDRESS, reasons, redirectEnds } from './words.js';

const WORDS = { allowed: 'Allowed', disallowed: 'Disallowed', undecided: 'Undecided' };
const SIGN = { allowed: '✓', disallowed: '✕', undecided: '?' };
const MAY_FETCH = {
  allowed: ' may fetch ',
  disallowed: ' may not fetch ',
  undecided: ' should wait before it fetches ',
};

/** `allowed`, `disallowed`, or `undecided` while robots.txt is unreachable. */
function verdictClass({ reason, allowed }) {
  if (reason === 'unreachable') return 'undecided';
  return allowed ? 'allowed' : 'disallowed';
}

export const verdictWord = (verdict) => WORDS[verdictClass(verdict)];

/** A word and a sign: the meaning must not depend on colour. */
export function verdictMark(verdict) {
  const kind = verdictClass(verdict);
  return element(
    'span.verdict.' + kind,
    element('span.sign', { 'aria-hidden': 'true' }, SIGN[kind] + ' '),
    WORDS[kind],
  );
}

/**
 * The heading of several verdicts: how many there are of each kind.
 * @returns {string}
 */
export function countsOf(verdicts) {
  const kinds = verdicts.map(verdictClass);
  return Object.keys(WORDS)
    .map((kind) => [kind, kinds.filter((each) => each === kind).length])
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => count.toLocaleString('en') + ' ' + kind)
    .join(', ');
}

/** A rule as a line of a file: `Disallow: /private`. */
export const ruleLine = ({ directive, pattern }) =>
  (directive === 'allow' ? 'Allow: ' : 'Disallow: ') + pattern;

export function ruleText(rule) {
  return element('span', 'line ' + rule.line + ', ', foreign(ruleLine(rule)));
}

/** Explains a verdict in one sentence. @param {any} verdict */
export function whyText({ reason, rule, state }) {
  const copy = state === 'last-good' ? ' (robots.txt cannot be read now, so the last good copy applies)' : '';
  if (rule) return element('span', ruleText(rule), ' decides' + copy);
  // Not "nothing may be fetched": the page calls it undecided.
  if (reason === 'unreachable') return 'robots.txt cannot be read now' + copy;
  const { what, so } = reasons[reason];
  return (so ? what + ', so ' + so : what) + copy;
}

/** Why robots.txt could not be read, in the words of a site's owner. */
function failureText({ error, status, hops }) {
  if (error === 'ERR_ROBOTS_ADDRESS_REFUSED' && !hops) return PRIVATE_ADDRESS;
  if (status !== undefined && (error === undefined || error === 'ERR_ROBOTS_STATUS')) {
    if (status === 429) return 'the server asked for fewer requests (status 429)';
    return 'the server responded with ' + (status >= 500 ? 'an error, ' : '') + 'status ' + status;
  }
  if (/CERT|TLS|SSL/.test(error)) return failures[error] || 'the certificate of the server is not trusted';
  return failures[error] || failures.ERR_ROBOTS_FETCH_FAILED;
}

/** The sentences of the banner. */
function because(verdict, { robots, retryAt, now }) {
  if (verdictClass(verdict) !== 'undecided') return [whyText(verdict)];
  const failure = 'robots.txt could not be read: ' + failureText(robots) + '.';
  if (robots.error === 'ERR_ROBOTS_ADDRESS_REFUSED') return [failure];
  if (retryAt === undefined) return [failure, 'Crawlers must wait and try again later.'];
  return [failure, `Crawlers must wait. The next try is ${away(retryAt, now)}, at ${clock(retryAt)}.`];
}

const SUSPECTS = {
  challenge: 'a bot-protection challenge',
  blocked: 'a firewall page',
  login: 'a login page',
  html: 'a web page',
};

/** Warnings about the file that make the verdict less reliable. */
function remarks({ truncated, suspect, unavailable }) {
  return [
    unavailable && 'There is no robots.txt: ' + redirectEnds[unavailable] + '.',
    suspect && `The response looks like ${SUSPECTS[suspect]}, not like a robots.txt.`,
    truncated && 'The file is longer than the limit. Rules past it do not count.',
  ].filter((each) => each);
}

/**
 * The heading of a result: the verdict, its agent, its reason, and warnings about the file.
 * @param {any} verdict
 * @param {string} url
 * @param {any} result From the service. `robots` describes the file.
 */
export function banner(verdict, url, result) {
  const kind = verdictClass(verdict);
  return element(
    'div.banner.' + kind,
    { 'data-part': 'banner' },
    element('p.big', verdictMark(verdict)),
    element('p.asked', foreign(verdict.agent), MAY_FETCH[kind], foreign(url)),
    because(verdict, result).map((each) => element('p.because', each)),
    remarks(result.robots).map((each) => element('p.remark', each)),
  );
}

export function groupText({ agent, lines }) {
  const shown = (lines.length === 1 ? 'line ' : 'lines ') + lines.slice(0, 5).join(', ');
  const more = lines.length > 5 ? ' and ' + (lines.length - 5).toLocaleString('en') + ' more' : '';
  return element('span', foreign(agent), ', ' + shown + more);
}

const LOST = {
  shorter: ' · shorter, so it loses',
  tie: ' · equally long: allow wins over disallow, then the first line wins',
  later: ' · comes later, and the first match decides',
};

/** A list of facts about the verdict, followed by those about the origin or the file. Those without a value are left out. */
export function verdictFacts({ group, runnerUp, crawlDelayMs, reason }, others) {
  const rows = [
    ['Group', group ? groupText(group) : reason === 'no-group' && 'none'],
    ['Next best rule', runnerUp && element('span', ruleText(runnerUp.rule), LOST[runnerUp.lost])],
    ['Crawl-delay', crawlDelayMs !== undefined && crawlDelayMs / 1000 + ' s'],
    ...others,
  ];
  return element(
    'dl.facts',
    rows.flatMap(([label, value]) => (value ? [element('dt', label), element('dd', value)] : [])),
  );
}

/** Facts about robots.txt: why it failed, or its age and digest. */
export function robotsFacts({ finalUrl, status, error, hops, fetchedAt, sha256 }, now, chain = undefined) {
  return [
    ['robots.txt', chain || element('span', foreign(finalUrl), status !== undefined && ' ' + status)],
    ['Last try failed', error && failureText({ error, status, hops })],
    [
      'Last read',
      fetchedAt !== undefined &&
        element('span', away(fetchedAt, now), element('span.at', ' · ' + clock(fetchedAt))),
    ],
    ['SHA-256', sha256 && element('code.digest', sha256)],
  ];
}

/** Facts about the origin and its robots.txt. */
export function originFacts({ policy, profile, lifetimeReason, now }) {
  const { attempt, file, robots } = policy;
  const hops = attempt ? attempt.hops : [{ url: robots.url }];
  const chain = element(
    'span',
    hops.flatMap(({ url, status }, index) => [
      index > 0 && ' → ',
      foreign(url),
      status !== undefined && ' ' + status,
    ]),
  );
  // The copy in force can be older than the latest response.
  const inForce = file ? { ...robots, fetchedAt: file.fetchedAt } : robots;
  const { sizeBytes, truncated, contentType } = file || {};
  const size =
    file && many(sizeBytes, 'byte') + (truncated ? ', and more past the limit, which is not read' : '');
  return [
    ...robotsFacts(inForce, now, chain),
    ['Size', file && element('span', size, contentType && ', ', contentType && foreign(contentType))],
    ['Valid for', lifetimeReason],
    ['Profile', profile],
  ];
}

/** A moment as seen from `now`: `in 5 min`, `3 s ago`. */
function away(at, now) {
  const ms = Math.abs(at - now);
  if (ms < 1500) return 'now';
  /** @type {[number, string][]} */
  const units = [
    [86400000, 'd'],
    [3600000, 'h'],
    [60000, 'min'],
  ];
  const [size, name] = units.find(([each]) => ms >= each * 1.5) || [1000, 's'];
  const length = Math.round(ms / size) + ' ' + name;
  return at > now ? 'in ' + length : length + ' ago';
}

/** A moment in UTC: `2026-11-21 13:37:40Z`. */
const clock = (at) => new Date(at).toISOString().slice(0, 19).replace('T', ' ') + 'Z';

const EVENTS = {
  answered: 'robots.txt fetched',
  confirmed: 'robots.txt confirmed unchanged',
  copy: 'Last good copy fetched',
  'refresh-ahead': 'The next question from here on fetches it again',
  stale: 'Expires',
  'first-failure': 'First failure',
  'last-failure': 'Latest failure',
  retry: 'The next question from here on tries again',
  phase: 'If it still fails:',
  site: 'Rest of the site',
};
const PHASES = {
  'last-good': 'the last good copy applies',
  'allow-all': 'everything is allowed',
  'disallow-all': 'nothing is allowed',
};

/** Lists past events, and future ones that follow if nothing else happens. */
export function timelineList(events, now, failure = undefined) {
  const items = events.map((event) => eventItem(event, now, failure));
  const past = events.filter(({ at }) => at <= now).length;
  items.splice(past, 0, element('li.now', element('span.what', 'Now')));
  return element('ol.timeline', items);
}

/** The words for a detail of the service. */
function detailText({ event, detail }, failure) {
  if (event === 'phase') return PHASES[detail];
  if (!failure || !event.endsWith('-failure')) return detail;
  const why = failureText(failure);
  if (event === 'last-failure') return why + ', ' + failure.attempts + ' times in a row';
  return failure.attempts === 1 && why;
}

function eventItem({ at, event, detail }, now, failure) {
  const said = detailText({ event, detail }, failure);
  return element(
    (at > now ? 'li.ahead.' : 'li.') + event,
    element('span.what', EVENTS[event], said && element('span.detail', ' ' + said)),
    element(
      'time',
      { datetime: new Date(at).toISOString() },
      away(at, now) + ' · ',
      element('span.at', clock(at)),
    ),
  );
}
