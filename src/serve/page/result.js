// @ts-check
// Makes the elements of an answer. Foreign text is inserted as text, never as markup.

/** Makes an element. Children are elements or strings. */
export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== ''));
  return made;
}

/** Characters that are invisible, or that change the direction of text. */
const INVISIBLE =
  /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

const numbered = (character) => 'U+' + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');

/** Splits foreign text into nodes. Invisible characters are shown as code points, such as `U+200B`. */
export function visible(text) {
  const parts = [];
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    if (!INVISIBLE.test(text[at])) continue;
    parts.push(text.slice(start, at), element('span', { class: 'invisible' }, numbered(text[at])));
    start = at + 1;
  }
  parts.push(text.slice(start));
  return parts.filter((part) => part !== '');
}

/** Does the same as `visible`, but returns a string, for labels. */
export function plain(text) {
  return Array.from(text, (character) => (INVISIBLE.test(character) ? numbered(character) : character)).join(
    '',
  );
}

export function section(title, ...children) {
  return element('section', {}, element('h2', {}, title), ...children);
}

/** Whether a later request may give another answer. */
const undecided = ({ reason }) => reason === 'unreachable';

export function verdictWord(verdict) {
  if (undecided(verdict)) return 'Undecided';
  return verdict.allowed ? 'Allowed' : 'Disallowed';
}

export function verdictClass(verdict) {
  if (undecided(verdict)) return 'undecided';
  return verdict.allowed ? 'allowed' : 'disallowed';
}

const SIGN = { allowed: '✓', disallowed: '✕', undecided: '?' };

/** The verdict as a word and a sign, so that it does not depend on colour. */
export function verdictMark(verdict) {
  const kind = verdictClass(verdict);
  return element(
    'span',
    { class: 'verdict ' + kind },
    element('span', { class: 'sign', 'aria-hidden': 'true' }, SIGN[kind]),
    verdictWord(verdict),
  );
}

/** Wraps foreign text in `bdi`, so that its direction does not affect the text around it. */
export function foreign(text) {
  const cut = text.length > 300 ? text.slice(0, 300) + '…' : text;
  return element('bdi', { class: 'foreign' }, ...visible(cut));
}

function ruleText({ directive, pattern, line }) {
  return element(
    'span',
    {},
    'line ' + line + ', ',
    foreign((directive === 'allow' ? 'Allow: ' : 'Disallow: ') + pattern),
  );
}

const LOST = {
  shorter: 'shorter, so it loses',
  tie: 'as long: allow goes before disallow, then the first line',
  later: 'comes later: the first match decides',
};

const REASON = {
  rule: 'a rule matches',
  'no-rule': 'its group has no rule that matches',
  'no-group': 'no group names it, and there is none for *',
  'robots-txt': '/robots.txt itself may always be fetched',
  unavailable: 'there is no robots.txt, so everything is allowed',
  unreachable: 'robots.txt is unreachable, so nothing may be fetched for now',
  'unreachable-expired': 'robots.txt has been unreachable for so long that it counts as absent',
  restricted: 'robots.txt is access restricted, so the site is disallowed',
  override: 'overridden',
};

/** Explains a verdict in one sentence. */
export function whyText({ reason, rule, state }) {
  const copy = state === 'last-good' ? ' (robots.txt is unreachable; the last good copy holds)' : '';
  return rule ? element('span', {}, ruleText(rule), ' decides' + copy) : REASON[reason] + copy;
}

const LOOKS = {
  challenge: 'the challenge of a gatekeeper',
  blocked: 'the page of a firewall',
  login: 'a login page',
  html: 'a page',
};

/** Warnings about the file that make the verdict less reliable. */
function remarks({ truncated, suspect }) {
  return [
    ...(suspect ? ['The answer looks like ' + LOOKS[suspect] + ' rather than a robots.txt.'] : []),
    ...(truncated ? ['The file goes on past the limit of what is read; rules there do not count.'] : []),
  ];
}

/** The heading of a result: the verdict, its agent, its reason, and warnings about the file (`robots`). */
export function banner(verdict, url, robots) {
  const big = element('p', { class: 'big' }, verdictMark(verdict));
  return element(
    'div',
    { class: 'banner ' + verdictClass(verdict) },
    big,
    element(
      'p',
      { class: 'asked' },
      foreign(verdict.agent),
      ' may ' + (verdict.allowed ? '' : 'not ') + 'fetch ',
      foreign(url),
    ),
    element('p', { class: 'because' }, whyText(verdict)),
    ...remarks(robots).map((remark) => element('p', { class: 'remark' }, remark)),
  );
}

export function facts(rows) {
  const list = element('dl', { class: 'facts' });
  for (const [label, value] of rows) {
    if (value === undefined || value === '') continue;
    list.append(element('dt', {}, label), element('dd', {}, value));
  }
  return list;
}

function groupText(group) {
  if (!group) return undefined;
  const shown = group.lines.slice(0, 5).join(', ');
  const more = group.lines.length > 5 ? ' and ' + (group.lines.length - 5) + ' more' : '';
  return element(
    'span',
    {},
    foreign(group.agent),
    ', ' + (group.lines.length === 1 ? 'line ' : 'lines ') + shown + more,
  );
}

export function verdictFacts({ group, runnerUp, crawlDelayMs, reason }) {
  return [
    ['Group', groupText(group) || (reason === 'no-group' ? 'none' : undefined)],
    ['Runner-up', runnerUp && element('span', {}, ruleText(runnerUp.rule), ' · ' + LOST[runnerUp.lost])],
    [
      'Crawl-delay',
      crawlDelayMs === undefined ? undefined : crawlDelayMs / 1000 + ' s (reported, not enforced)',
    ],
  ];
}

/** Facts about the origin and its robots.txt. */
export function originFacts({ policy, profile, lifetimeReason }) {
  const { attempt, file, robots, failure } = policy;
  const hops = attempt ? attempt.hops : [{ url: robots.url }];
  const way = element(
    'span',
    {},
    ...hops.flatMap(({ url, status }, index) => [
      index > 0 ? ' → ' : '',
      foreign(url),
      status === undefined ? '' : ' ' + status,
    ]),
  );
  const size =
    file &&
    file.sizeBytes.toLocaleString('en') +
      ' octets' +
      (file.truncated ? ', and more behind the limit, which is not read' : '');
  return [
    ['robots.txt', way],
    ['Error', failure && failure.error],
    ['Size', size && (file.contentType ? element('span', {}, size + ', ', foreign(file.contentType)) : size)],
    ['Lifetime', lifetimeReason],
    ['Profile', profile],
  ];
}

const wrap = (table, label) =>
  element('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, table);

function head(...cells) {
  return element(
    'thead',
    {},
    element('tr', {}, ...cells.map((cell) => element('th', { scope: 'col' }, cell))),
  );
}

/** Table of the verdicts by agent. onPick receives the selected one. */
export function agentTable(verdicts, onPick) {
  const rows = verdicts.map((verdict, index) => {
    const button = element(
      'button',
      { type: 'button', 'aria-pressed': String(index === 0) },
      foreign(verdict.agent),
    );
    button.addEventListener('click', () => {
      for (const each of body.querySelectorAll('button'))
        each.setAttribute('aria-pressed', String(each === button));
      onPick(verdict);
    });
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, button),
      element('td', {}, verdictMark(verdict)),
      element('td', { class: 'why' }, whyText(verdict)),
      element('td', {}, groupText(verdict.group) || '–'),
    );
  });
  const body = element('tbody', {}, ...rows);
  return wrap(
    element('table', { class: 'agents' }, head('Agent', 'Verdict', 'Why', 'Group'), body),
    'Verdicts by agent',
  );
}

/** Table with a row per URL and a column per agent. onPick receives the selected verdict. */
export function matrix(results, onPick) {
  const agents = (results.find(({ verdicts }) => verdicts) || { verdicts: [] }).verdicts.map(
    ({ agent }) => agent,
  );
  let first = true;
  const rows = results.map(({ input, verdicts, error }) => {
    const url = element('th', { scope: 'row' }, foreign(input));
    if (error)
      return element(
        'tr',
        {},
        url,
        element(
          'td',
          { colspan: String(agents.length), class: 'wrong' },
          'Not a URL: write an absolute URL, or a path that starts with /',
        ),
      );
    return element(
      'tr',
      {},
      url,
      ...verdicts.map((verdict) => {
        const button = element(
          'button',
          { type: 'button', 'aria-pressed': String(first) },
          verdictMark(verdict),
          verdict.rule ? element('span', { class: 'at' }, ' line ' + verdict.rule.line) : '',
        );
        first = false;
        button.addEventListener('click', () => {
          for (const each of body.querySelectorAll('button'))
            each.setAttribute('aria-pressed', String(each === button));
          onPick(verdict, input);
        });
        return element('td', {}, button);
      }),
    );
  });
  const body = element('tbody', {}, ...rows);
  return wrap(
    element('table', { class: 'matrix' }, head('URL', ...agents.map(foreign)), body),
    'Verdicts by URL and agent',
  );
}

const EVENT = {
  answered: 'robots.txt answered',
  confirmed: 'robots.txt confirmed unchanged',
  copy: 'Last good copy fetched',
  'refresh-ahead': 'Refreshed ahead, if asked from here on',
  stale: 'Fresh until here',
  'first-failure': 'First failure',
  'last-failure': 'Latest failure',
  retry: 'Next attempt, if asked from here on',
  phase: 'If it still fails:',
  site: 'Rest of the site',
};

const NEXT = {
  'last-good': 'the last good copy holds',
  'allow-all': 'everything is allowed',
  'disallow-all': 'nothing is allowed',
};

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
  if (ms < 1500) return 'now';
  return at > now ? 'in ' + length : length + ' ago';
}

/** Lists past events, and future ones that follow if nothing else happens. */
export function timelineList(events, now) {
  const items = [];
  let passed = false;
  const mark = () => items.push(element('li', { class: 'now' }, element('span', { class: 'what' }, 'Now')));
  for (const { at, event, detail } of events) {
    if (!passed && at > now) {
      passed = true;
      mark();
    }
    const date = new Date(at);
    const iso = Number.isNaN(date.getTime()) ? undefined : date.toISOString();
    const said = event === 'phase' ? NEXT[detail] : detail;
    items.push(
      element(
        'li',
        { class: (at > now ? 'ahead ' : '') + event },
        element(
          'span',
          { class: 'what' },
          EVENT[event],
          said ? element('span', { class: 'detail' }, ' ' + said) : '',
        ),
        element(
          'time',
          { datetime: iso },
          away(at, now),
          element('span', { class: 'at' }, iso ? iso.slice(0, 19).replace('T', ' ') + 'Z' : ''),
        ),
      ),
    );
  }
  if (!passed) mark();
  return element('ol', { class: 'timeline' }, ...items);
}

const PURPOSE = { 'train-ai': 'Training AI models', search: 'Search', 'ai-input': 'Input to AI answers' };

/** Table of the usage preferences that the site states. They do not affect fetching. */
export function usageTable(usage) {
  const rows = Object.entries(PURPOSE).map(([key, label]) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, label),
      element(
        'td',
        {},
        usage[key] === 'unknown'
          ? 'not stated'
          : element(
              'span',
              { class: 'verdict ' + (usage[key] === 'allow' ? 'allowed' : 'disallowed') },
              element('span', { class: 'sign', 'aria-hidden': 'true' }, usage[key] === 'allow' ? '✓' : '✕'),
              usage[key] === 'allow' ? 'Allowed' : 'Disallowed',
            ),
      ),
    ),
  );
  const sources = usage.sources.map(({ directive, line, value }) =>
    element(
      'li',
      {},
      (line === undefined ? 'header' : 'line ' + line) + ', ' + directive + ': ',
      foreign(value),
    ),
  );
  return element(
    'div',
    {},
    element('table', { class: 'usage' }, element('tbody', {}, ...rows)),
    element('ul', { class: 'sources' }, ...sources),
  );
}

const STATES = {
  rules: 'by its rules',
  'last-good': 'by the last good copy',
  'allow-all': 'allows everything',
  'disallow-all': 'disallows everything',
};

/** Table of the decisions under other profiles. */
export function profileTable(profiles) {
  const rows = profiles.map(({ profile, state, allowed, line, reason }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, element('code', {}, profile)),
      element(
        'td',
        {},
        allowed === undefined ? 'would ask again' : verdictMark({ allowed, reason: reason || 'rule' }),
      ),
      element('td', {}, line === undefined ? STATES[state] || '' : 'line ' + line),
    ),
  );
  return wrap(
    element('table', {}, head('Profile', 'Verdict', 'Why'), element('tbody', {}, ...rows)),
    'Verdicts by profile',
  );
}
