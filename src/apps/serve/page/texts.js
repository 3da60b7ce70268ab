// @ts-check
// All texts of the page. Elements of index.html name theirs in `data-text`, `data-placeholder` or `data-label`.

const many = (count, one, several) => count.toLocaleString('en') + ' ' + (count === 1 ? one : several);

/** By the code of the failure, as in `report/text/fetch-errors.ts`. */
export const failures = {
  ERR_ROBOTS_DEADLINE: 'the server took too long to answer',
  ERR_ROBOTS_NOT_MODIFIED: 'the server said “unchanged” (status 304) instead of sending the file',
  ERR_ROBOTS_NO_FTP_TRANSPORT: 'this service does not fetch over FTP',
  ERR_ROBOTS_REDIRECT_LOCATION: 'the server redirects to an address that is not valid',
  ERR_ROBOTS_REDIRECT_SCHEME: 'the server redirects to an address that is neither http nor https',
  ERR_ROBOTS_REDIRECT_OPAQUE: 'the server redirects, and does not say where to',
  ERR_ROBOTS_REDIRECT_LIMIT: 'the server redirects too many times',
  ERR_ROBOTS_REDIRECT_LOOP: 'the server redirects in a circle',
  ERR_ROBOTS_ADDRESS_REFUSED: 'the address is in a private network, which this service does not ask',
  ERR_ROBOTS_ADDRESS_UNKNOWN:
    'the address behind a proxy is unknown, and this service asks public addresses only',
  ERR_ROBOTS_PROXY: 'a proxy did not pass the request on',
  ERR_ROBOTS_CHALLENGE: 'a gatekeeper, such as a bot protection, answered instead of the site',
  ERR_ROBOTS_CONTENT_CODING: 'the file came compressed in a way that cannot be read',
  ERR_ROBOTS_TRAILING_BYTES: 'the file came compressed, with something behind it that does not belong to it',
  ERR_ROBOTS_TRANSFER_CODING: 'the file came in a coding that cannot be read',
  ERR_ROBOTS_PARTIAL_CONTENT: 'only a part of the file came',
  ERR_ROBOTS_NOT_TEXT: 'the file is not text',
  ERR_ROBOTS_MALFORMED: 'what the server sent is not valid HTTP or FTP',
  ERR_ROBOTS_FETCH_FAILED: 'the connection failed',
  ERR_ROBOTS_FTP_CLOSED: 'the FTP server closed the connection',
  ERR_ROBOTS_FTP_REPLY_LIMIT: 'the FTP server answered with more than is read',
  ENOTFOUND: 'there is no server of this name',
  EAI_AGAIN: 'the name of the server cannot be looked up for now',
  ESERVFAIL: 'the name servers of the site do not work',
  ETIMEOUT: 'the name servers of the site did not answer',
  ECONNREFUSED: 'the server refused the connection',
  ECONNRESET: 'the server broke off the connection',
  ETIMEDOUT: 'the server did not answer',
  UND_ERR_SOCKET: 'the server closed the connection without an answer',
  UND_ERR_CONNECT_TIMEOUT: 'the server did not answer',
  CERT_HAS_EXPIRED: 'the certificate of the server has expired',
};

export const texts = {
  // The form
  claim: 'May this agent fetch this URL, and why?',
  question: 'What to ask',
  modeSite: 'Ask a site',
  modeList: 'Ask about many URLs',
  modeText: 'Try a robots.txt',
  modeDiff: 'Compare two files',
  before: 'Old robots.txt',
  after: 'New robots.txt',
  sidePlaceholder: 'The text of a file, or the address of a site: https://example.com',
  url: 'URL',
  urlPlaceholder: 'https://example.com/page',
  agent: 'Agent',
  agentPlaceholder: 'ExampleBot/1.0',
  compare: 'Compare with',
  robots: 'robots.txt',
  robotsPlaceholder: 'User-agent: *\nDisallow: /private/',
  open: 'Open a file…',
  drop: 'or drop one anywhere on this page',
  urls: 'URLs or paths, one a line (at most 1,000 answers: URLs times agents)',
  urlsPlaceholder: '/private/report\nhttps://example.com/page',
  agents: 'Agents',
  purpose: 'Purpose',
  anyPurpose: 'Not considered',
  agentHint: 'An agent is a product token or a whole User-Agent; “*” is anybody whom no group names.',
  crawlers: 'Known crawlers',
  crawlersHint: 'What you choose is added to the list of agents.',
  check: 'Check',
  json: 'The same as JSON:',
  fileTooLong: (bytes) => 'Expected a file of at most 1 MiB, got ' + many(bytes, 'byte', 'bytes'),
  tooManyAgents: (count) => 'Expected at most 100 agents, got ' + count,
  tooManyAnswers: (count) =>
    'Expected at most 1,000 answers, got ' + count.toLocaleString('en') + ' (URLs times agents)',
  noUrls: 'Expected URLs, one a line, got none',
  noSiteUrl: 'Expected absolute URLs, such as https://example.com/page; none of these is one',
  noUrl: 'Expected URLs, or paths that start with /; none of these is one',
  badLink: 'The link is damaged: what it holds cannot be read',
  longLink: 'The link holds a longer file than the page reads from links; open the file instead',

  // While asking
  waits: 'A link has filled in this question. Press Check to ask it.',
  asking: (host) => 'Asking ' + host + ' …',
  deciding: 'Deciding …',
  comparing: 'Comparing …',
  answered: (done, all) => done.toLocaleString('en') + ' of ' + all.toLocaleString('en'),
  elapsed: (seconds) => seconds + ' s',
  cancel: 'Cancel',
  cancelled: 'Cancelled.',
  problems: {
    ERR_ROBOTS_BUSY: 'The service is busy. Try again in a moment.',
    ERR_ROBOTS_TOO_LARGE:
      'That is more than the service reads at a time. Ask with shorter files or fewer URLs.',
    ERR_ROBOTS_UNREACHABLE:
      'The robots.txt of the site could not be read. Try again later, or paste its text.',
  },
  noAnswer: (status) => 'Expected an answer of the service, got status ' + status,

  // The answer
  title: (verdict, host) => verdict + ': ' + host + ' · canfetch',
  plainTitle: 'canfetch: may this agent fetch this URL?',
  pasted: 'pasted robots.txt',
  manyUrls: (count) => many(count, 'URL', 'URLs'),
  verdictFor: (verdict, agent) => verdict + ' for ' + agent,
  words: { allowed: 'Allowed', disallowed: 'Disallowed', undecided: 'Undecided' },
  mayFetch: {
    allowed: ' may fetch ',
    disallowed: ' may not fetch ',
    undecided: ' should wait before it fetches ',
  },
  copyLink: 'Copy link',
  copied: 'Copied',
  link: 'Link to this answer',
  csv: 'Download as CSV',
  csvName: 'canfetch.csv',
  line: (line) => 'line ' + line,
  decides: ' decides',
  unreachable: (failure) => 'robots.txt could not be read: ' + failure + '.',
  triedAgain: (away, time) => 'Crawlers wait; the next try is ' + away + (time ? ', at ' + time : '') + '.',
  triedLater: 'Crawlers wait, and try again later.',
  copyHolds: ' (robots.txt cannot be read for now; the last good copy holds)',
  reasons: {
    rule: 'a rule matches',
    'no-rule': 'its group has no rule that matches',
    'no-group': 'no group names it, and there is none for *',
    'robots-txt': '/robots.txt itself may always be fetched',
    unavailable: 'there is no robots.txt, so everything is allowed',
    unreachable: 'robots.txt cannot be read for now',
    'unreachable-expired': 'robots.txt could not be read for so long that it counts as absent',
    restricted: 'the server does not let crawlers read robots.txt, so the whole site is disallowed',
    override: 'set by who runs this service',
  },
  lost: {
    shorter: 'shorter, so it loses',
    tie: 'as long: allow goes before disallow, then the first line',
    later: 'comes later: the first match decides',
  },
  suspect: {
    challenge: 'The answer looks like the challenge of a gatekeeper rather than a robots.txt.',
    blocked: 'The answer looks like the page of a firewall rather than a robots.txt.',
    login: 'The answer looks like a login page rather than a robots.txt.',
    html: 'The answer looks like a page rather than a robots.txt.',
  },
  truncated: 'The file goes on past the limit of what is read; rules there do not count.',

  // Facts
  group: 'Group',
  none: 'none',
  runnerUp: 'Next best rule',
  crawlDelay: 'Crawl-delay',
  crawlDelayValue: (ms) => ms / 1000 + ' s (reported, not enforced)',
  error: 'Last try failed',
  age: 'Last read',
  digest: 'SHA-256',
  size: 'Size',
  sizeValue: (bytes) => many(bytes, 'byte', 'bytes'),
  sizeCut: ', and more behind the limit, which is not read',
  lifetime: 'How long it counts',
  profile: 'Profile',
  readAs: 'Read as',
  more: 'More',
  explain: 'Everything about this URL',
  andMore: (count) => ' and ' + count.toLocaleString('en') + ' more',
  lines: (numbers) => 'lines ' + numbers,

  // Tables
  agentsTitle: 'Agents side by side',
  verdictsTitle: 'Verdicts',
  verdict: 'Verdict',
  why: 'Why',
  byAgent: 'Verdicts by agent',
  byUrl: 'Verdicts by URL and agent',
  byProfile: 'Verdicts by profile',
  noUrlRow: 'Not a URL such as https://example.com/page',
  profilesTitle: 'If a crawler follows other rules',
  wouldAsk: 'needs a new request to tell',
  states: {
    rules: 'by its rules',
    'last-good': 'by the last good copy',
    'allow-all': 'allows everything',
    'disallow-all': 'disallows everything',
  },
  usageTitle: 'What the site states about use',
  purposes: {
    'train-ai': 'Training AI models',
    'ai-use': 'Any use by AI',
    'ai-input': 'Input to AI answers',
    search: 'Search',
  },
  preferences: { allow: 'Allowed', disallow: 'Disallowed', unknown: 'not stated' },
  header: 'header',
  sitemapsTitle: 'Sitemaps',

  // The file
  fileTitle: (lines) => 'robots.txt, ' + many(lines, 'line', 'lines'),
  wholeFile: 'The whole file',
  decidingLine: 'The line that decides',
  applyingGroup: 'The group that applies',
  showWhole: 'Show the whole file',
  fileRegion: 'robots.txt, line by line',
  legend: { group: 'group that applies', decides: 'line that decides', runnerUp: 'runner-up' },
  badge: { decides: 'decides', runnerUp: 'runner-up' },
  moreCharacters: (count) => ' … and ' + count.toLocaleString('en') + ' more characters',
  notesTitle: 'Notes on this file',
  whyItMatters: 'Why it matters',
  severities: { error: 'Error', warning: 'Warning', info: 'Note' },

  // Two files
  same: 'No difference for any agent',
  differs: (agents, urls) =>
    'Differs for ' + many(agents, 'agent', 'agents') + (urls === 0 ? '' : ', ' + many(urls, 'URL', 'URLs')),
  forAgents: 'For ',
  noGroup: 'no group',
  changedLines: 'Lines that changed',
  changes: { added: 'added', removed: 'removed', turned: 'turned round', moved: 'moved' },
  was: ' · before: ',
  flips: (count) =>
    many(count, 'URL', 'URLs') + (count === 1 ? ' is' : ' are') + ' decided differently, for example',
  redecided: (count) => many(count, 'URL', 'URLs') + ': another line decides, with the same result',
  everybody: 'For every agent: sitemaps and other lines',
  leftOut: (count) =>
    many(count, 'agent', 'agents') + ' not compared: there are too many of them, or of changes.',
  moreSections: (count) => 'And ' + count.toLocaleString('en') + ' more sets of agents.',
  moreRows: (count) => 'And ' + count.toLocaleString('en') + ' more.',

  // Why robots.txt could not be read, for who owns a site
  failure: ({ error, status }) => {
    const byStatus = status !== undefined && (error === undefined || error === 'ERR_ROBOTS_STATUS');
    if (byStatus && status === 429) return 'the server asked for fewer requests (status 429)';
    if (byStatus)
      return 'the server answered with ' + (status >= 500 ? 'an error, ' : '') + 'status ' + status;
    if (/CERT|TLS|SSL/.test(error)) return failures[error] || 'the certificate of the server is not trusted';
    return failures[error] || 'the connection failed';
  },

  // Over time
  timelineTitle: 'Over time',
  now: 'Now',
  inTime: (length) => 'in ' + length,
  ago: (length) => length + ' ago',
  rightNow: 'now',
  inARow: (attempts) => ', ' + attempts + ' times in a row',
  events: {
    answered: 'robots.txt answered',
    confirmed: 'robots.txt confirmed unchanged',
    copy: 'Last good copy fetched',
    'refresh-ahead': 'Fetched again from here on, when somebody asks',
    stale: 'Fresh until here',
    'first-failure': 'First failure',
    'last-failure': 'Latest failure',
    retry: 'Next try from here on, when somebody asks',
    phase: 'If it still fails:',
    site: 'Rest of the site',
  },
  phases: {
    'last-good': 'the last good copy holds',
    'allow-all': 'everything is allowed',
    'disallow-all': 'nothing is allowed',
  },

  // Known crawlers, by what they are for
  crawlerKinds: {
    search: 'Search',
    training: 'AI training',
    assistants: 'AI search and assistants',
    previews: 'Link previews',
    marketing: 'Marketing and SEO',
    archives: 'Archives',
  },

  // Columns of the CSV
  columns: {
    url: 'url',
    agent: 'agent',
    verdict: 'verdict',
    reason: 'reason',
    line: 'line',
    rule: 'rule',
    group: 'group',
    purpose: 'purpose',
    preference: 'preference',
    error: 'error',
  },
};
