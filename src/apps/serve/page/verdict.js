// @ts-check
// Displays one verdict: the banner, the facts that it rests on, and what happens to the origin over time.
import { element, facts, foreign } from './elements.js';
import { texts } from './texts.js';

/** `allowed`, `disallowed`, or `undecided` while robots.txt is unreachable. */
function verdictClass({ reason, allowed }) {
  if (reason === 'unreachable') return 'undecided';
  return allowed ? 'allowed' : 'disallowed';
}

export const verdictWord = (verdict) => texts.words[verdictClass(verdict)];

const SIGN = { allowed: '✓', disallowed: '✕', undecided: '?' };

/** A word and a sign: the meaning must not depend on colour. */
export function mark(kind, word) {
  return element(
    'span',
    { class: 'verdict ' + kind },
    element('span', { class: 'sign', 'aria-hidden': 'true' }, SIGN[kind] + ' '),
    word,
  );
}

/**
 * The heading of several verdicts: how many there are of each kind.
 * @returns {string}
 */
export function countsOf(verdicts) {
  const kinds = verdicts.map(verdictClass);
  return Object.keys(texts.words)
    .map((kind) => [kind, kinds.filter((each) => each === kind).length])
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => count.toLocaleString('en') + ' ' + texts.words[kind].toLowerCase())
    .join(', ');
}

export function verdictMark(verdict) {
  return mark(verdictClass(verdict), verdictWord(verdict));
}

export function ruleText({ directive, pattern, line }) {
  return element(
    'span',
    {},
    texts.line(line) + ', ',
    foreign((directive === 'allow' ? 'Allow: ' : 'Disallow: ') + pattern),
  );
}

/** Explains a verdict in one sentence. */
export function whyText({ reason, rule, state }) {
  const copy = state === 'last-good' ? texts.copyHolds : '';
  return rule ? element('span', {}, ruleText(rule), texts.decides + copy) : texts.reasons[reason] + copy;
}

/** The sentences of the banner. */
function because(verdict, { robots, retryAt, now }) {
  if (verdictClass(verdict) !== 'undecided') return [whyText(verdict)];
  if (robots.error === 'ERR_ROBOTS_ADDRESS_REFUSED') return [texts.unreachable(texts.failure(robots))];
  const again =
    retryAt === undefined ? texts.triedLater : texts.triedAgain(away(retryAt, now), clock(retryAt));
  return [texts.unreachable(texts.failure(robots)), again];
}

/** Warnings about the file that make the verdict less reliable. */
function remarks({ truncated, suspect, unavailable }) {
  return [
    ...(unavailable ? [texts.ended(unavailable)] : []),
    ...(suspect ? [texts.suspect[suspect]] : []),
    ...(truncated ? [texts.truncated] : []),
  ];
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
    'div',
    { class: 'banner ' + kind, 'data-part': 'banner' },
    element('p', { class: 'big' }, verdictMark(verdict)),
    element('p', { class: 'asked' }, foreign(verdict.agent), texts.mayFetch[kind], foreign(url)),
    ...because(verdict, result).map((each) => element('p', { class: 'because' }, each)),
    ...remarks(result.robots).map((each) => element('p', { class: 'remark' }, each)),
  );
}

export function groupText(group) {
  if (!group) return undefined;
  const shown = group.lines.slice(0, 5).join(', ');
  const more = group.lines.length > 5 ? texts.andMore(group.lines.length - 5) : '';
  return element(
    'span',
    {},
    foreign(group.agent),
    ', ' + (group.lines.length === 1 ? texts.line(shown) : texts.lines(shown)) + more,
  );
}

/** Facts about the verdict, followed by those about the origin or the file. */
export function verdictFacts({ group, runnerUp, crawlDelayMs, reason }, others) {
  return facts([
    [texts.group, groupText(group) || (reason === 'no-group' ? texts.none : undefined)],
    [
      texts.runnerUp,
      runnerUp && element('span', {}, ruleText(runnerUp.rule), ' · ' + texts.lost[runnerUp.lost]),
    ],
    [texts.crawlDelay, crawlDelayMs === undefined ? undefined : texts.crawlDelayValue(crawlDelayMs)],
    ...others,
  ]);
}

/** Facts about robots.txt: why it failed, or its age and digest. */
export function robotsFacts({ finalUrl, status, error, hops, fetchedAt, sha256 }, now, chain = undefined) {
  const digest = sha256 && element('code', { class: 'digest' }, sha256);
  return [
    [texts.robots, chain || element('span', {}, foreign(finalUrl), status === undefined ? '' : ' ' + status)],
    [texts.error, error && texts.failure({ error, status, hops })],
    [
      texts.age,
      fetchedAt !== undefined &&
        element('span', {}, away(fetchedAt, now), element('span', { class: 'at' }, ' · ' + clock(fetchedAt))),
    ],
    [texts.digest, digest],
  ];
}

/** Facts about the origin and its robots.txt. */
export function originFacts({ policy, profile, lifetimeReason, now }) {
  const { attempt, file, robots } = policy;
  const hops = attempt ? attempt.hops : [{ url: robots.url }];
  const chain = element(
    'span',
    {},
    ...hops.flatMap(({ url, status }, index) => [
      index > 0 ? ' → ' : '',
      foreign(url),
      status === undefined ? '' : ' ' + status,
    ]),
  );
  const size = file && texts.sizeValue(file.sizeBytes) + (file.truncated ? texts.sizeCut : '');
  // The copy in force can be older than the latest response.
  const inForce = file ? { ...robots, fetchedAt: file.fetchedAt } : robots;
  return [
    ...robotsFacts(inForce, now, chain),
    [
      texts.size,
      size && (file.contentType ? element('span', {}, size + ', ', foreign(file.contentType)) : size),
    ],
    [texts.lifetime, lifetimeReason],
    [texts.profile, profile],
  ];
}

/** A moment as seen from `now`: `in 5 min`, `3 s ago`. */
function away(at, now) {
  const ms = Math.abs(at - now);
  /** @type {[number, string][]} */
  const units = [
    [86400000, 'd'],
    [3600000, 'h'],
    [60000, 'min'],
    [1000, 's'],
  ];
  const [size, name] = units.find(([each]) => ms >= each * 1.5) || units[3];
  const length = Math.round(ms / size) + ' ' + name;
  if (ms < 1500) return texts.rightNow;
  return at > now ? texts.inTime(length) : texts.ago(length);
}

/** A moment in UTC, as ISO 8601; `undefined` when no date can show it. */
function isoTime(at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A moment in UTC as text: `2026-11-21 13:37:40Z`. */
function clock(at) {
  const iso = isoTime(at);
  return iso === undefined ? '' : iso.slice(0, 19).replace('T', ' ') + 'Z';
}

/** Lists past events, and future ones that follow if nothing else happens. */
export function timelineList(events, now, failure = undefined) {
  const past = events.filter(({ at }) => at <= now);
  const future = events.filter(({ at }) => at > now);
  return element(
    'ol',
    { class: 'timeline' },
    ...past.map((event) => item(event, now, failure)),
    element('li', { class: 'now' }, element('span', { class: 'what' }, texts.now)),
    ...future.map((event) => item(event, now, failure)),
  );
}

/** The words for a detail of the service. */
function detailText({ event, detail }, failure) {
  if (event === 'phase') return texts.phases[detail];
  if (!failure || !event.endsWith('-failure')) return detail;
  const why = texts.failure(failure);
  if (event === 'last-failure') return why + texts.inARow(failure.attempts);
  return failure.attempts === 1 ? why : undefined;
}

function item(shown, now, failure) {
  const { at, event } = shown;
  const said = detailText(shown, failure);
  return element(
    'li',
    { class: (at > now ? 'ahead ' : '') + event },
    element(
      'span',
      { class: 'what' },
      texts.events[event],
      said ? element('span', { class: 'detail' }, ' ' + said) : '',
    ),
    element(
      'time',
      { datetime: isoTime(at) },
      away(at, now) + ' · ',
      element('span', { class: 'at' }, clock(at)),
    ),
  );
}
