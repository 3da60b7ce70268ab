// @ts-check
// All texts of the page. Elements of index.html name theirs in `data-text`, `data-placeholder` or `data-label`.
import { failures, PRIVATE_ADDRESS, reasons, redirectEnds } from './words.js';

const many = (count, one, several) => count.toLocaleString('en') + ' ' + (count === 1 ? one : several);

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
  sidePlaceholder: 'The text of a file, or the URL of a site: https://example.com',
  url: 'URL',
  urlPlaceholder: 'https://example.com/page',
  agent: 'Agent',
  agentPlaceholder: 'ExampleBot/1.0',
  compare: 'Compare with',
  robots: 'robots.txt',
  robotsPlaceholder: 'User-agent: *\nDisallow: /private/',
  open: 'Open a file…',
  drop: 'or drop one anywhere on this page',
  urls: 'URLs',
  urlsOrPaths: 'URLs or paths',
  urlsHint: 'One per line. At most 1,000 verdicts: URLs times agents.',
  pathPlaceholder: '/private/report',
  agents: 'Agents',
  purpose: 'Purpose',
  anyPurpose: 'Not considered',
  agentHint:
    'An agent is a product token or a whole User-Agent. “*” stands for any crawler that the file does not name.',
  crawlers: 'Known crawlers',
  crawlersHint: 'Your choice is added to the list of agents.',
  check: 'Check',
  compareFiles: 'Compare',
  json: 'The same as JSON:',
  fileTooLong: (bytes) => 'Expected a file of at most 1 MiB, got ' + many(bytes, 'byte', 'bytes'),
  tooManyAgents: (count) => 'Expected at most 100 agents, got ' + count,
  tooManyAnswers: (count) =>
    'Expected at most 1,000 verdicts, got ' + count.toLocaleString('en') + ' (URLs times agents)',
  noUrls: 'Expected URLs, one per line, got none',
  noSiteUrl: 'Expected absolute URLs, such as https://example.com/page, got none',
  noUrl: 'Expected URLs, or paths that start with /, got none',
  badLink: 'The link is damaged and cannot be read',
  longLink: 'The link holds more than the page reads from links. Open the file instead.',

  // While asking
  waits: 'This question came from a link. Press the button to ask it.',
  asking: (host) => 'Asking ' + host + ' …',
  deciding: 'Deciding …',
  comparing: 'Comparing …',
  answered: (done, all) => done.toLocaleString('en') + ' of ' + all.toLocaleString('en'),
  elapsed: (seconds) => seconds + ' s',
  cancel: 'Cancel',
  cancelled: 'Cancelled.',
  problems: {
    ERR_ROBOTS_BUSY: 'The service is busy. Try again in a moment.',
    ERR_ROBOTS_TOO_LARGE: 'That is too much for one request. Use shorter files or fewer URLs.',
    ERR_ROBOTS_UNREACHABLE:
      'The robots.txt of the site could not be read. Try again later, or paste its text.',
  },
  noAnswer: (status) => 'Expected a response from the service, got status ' + status,

  // The result
  title: (verdict, host) => verdict + ': ' + host + ' · canfetch',
  plainTitle: 'canfetch: may this agent fetch this URL?',
  pasted: 'pasted robots.txt',
  manyUrls: (count, invalid = 0) =>
    many(count, 'URL', 'URLs') + (invalid === 0 ? '' : ', ' + invalid.toLocaleString('en') + ' not valid'),
  verdictFor: (verdict, agent) => verdict + ' for ' + agent,
  words: { allowed: 'Allowed', disallowed: 'Disallowed', undecided: 'Undecided' },
  mayFetch: {
    allowed: ' may fetch ',
    disallowed: ' may not fetch ',
    undecided: ' should wait before it fetches ',
  },
  copyLink: 'Copy link',
  copied: 'Copied',
  link: 'Link to this result',
  csv: 'Download as CSV',
  csvName: 'canfetch.csv',
  line: (line) => 'line ' + line,
  decides: ' decides',
  unreachable: (failure) => 'robots.txt could not be read: ' + failure + '.',
  triedAgain: (away, time) =>
    'Crawlers must wait. The next try is ' + away + (time ? ', at ' + time : '') + '.',
  triedLater: 'Crawlers must wait and try again later.',
  copyHolds: ' (robots.txt cannot be read now, so the last good copy applies)',
  reasons: {
    ...Object.fromEntries(
      Object.entries(reasons).map(([reason, { what, so }]) => [reason, so ? what + ', so ' + so : what]),
    ),
    // Not "nothing may be fetched": the page calls it undecided.
    unreachable: 'robots.txt cannot be read now',
  },
  lost: {
    shorter: 'shorter, so it loses',
    tie: 'equally long: allow wins over disallow, then the first line wins',
    later: 'comes later, and the first match decides',
  },
  suspect: {
    challenge: 'The response looks like a bot-protection challenge, not like a robots.txt.',
    blocked: 'The response looks like a firewall page, not like a robots.txt.',
    login: 'The response looks like a login page, not like a robots.txt.',
    html: 'The response looks like a web page, not like a robots.txt.',
  },
  ended: (reason) => 'There is no robots.txt: ' + redirectEnds[reason] + '.',
  truncated: 'The file is longer than the limit. Rules past it do not count.',

  // Facts
  group: 'Group',
  none: 'none',
  runnerUp: 'Next best rule',
  crawlDelay: 'Crawl-delay',
  crawlDelayValue: (ms) => ms / 1000 + ' s',
  error: 'Last try failed',
  age: 'Last read',
  digest: 'SHA-256',
  size: 'Size',
  sizeValue: (bytes) => many(bytes, 'byte', 'bytes'),
  sizeCut: ', and more past the limit, which is not read',
  lifetime: 'Valid for',
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
  wouldAsk: 'would need a new request',
  states: {
    rules: 'by its rules',
    'last-good': 'by its last good copy',
    'allow-all': 'allows everything',
    'disallow-all': 'disallows everything',
  },
  usageTitle: 'Preferences about the use of pages',
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
  decidingLine: 'The line that decides',
  applyingGroup: 'The group that applies',
  showWhole: 'Show the whole file',
  fileRegion: 'robots.txt, line by line',
  legend: { group: 'group that applies', decides: 'line that decides', runnerUp: 'runner-up' },
  badge: { decides: 'decides', runnerUp: 'runner-up' },
  moreCharacters: (count) => ' … and ' + count.toLocaleString('en') + ' more characters',
  notesTitle: (errors, warnings) =>
    'Notes on this file' +
    (errors === 0 ? '' : ' · ' + many(errors, 'error', 'errors')) +
    (warnings === 0 ? '' : ' · ' + many(warnings, 'warning', 'warnings')),
  whyItMatters: 'Why it matters',
  severities: { error: 'Error', warning: 'Warning', info: 'Note' },

  // Two files
  same: 'No difference for any agent',
  differs: (agents, urls) =>
    'Differs for ' + many(agents, 'agent', 'agents') + (urls === 0 ? '' : ', ' + many(urls, 'URL', 'URLs')),
  forAgents: 'For ',
  noGroup: 'no group',
  changedLines: 'Lines that changed',
  changes: { added: 'added', removed: 'removed', turned: 'reversed', moved: 'moved' },
  was: ' · before: ',
  flips: (count) =>
    many(count, 'URL', 'URLs') + (count === 1 ? ' is' : ' are') + ' decided differently, for example',
  redecided: (count) => many(count, 'URL', 'URLs') + ': same verdict, by another line',
  everybody: 'For every agent: sitemaps and other lines',
  leftOut: (count) => many(count, 'agent', 'agents') + ' not compared: too many agents or changes.',
  moreSections: (count) => 'And ' + count.toLocaleString('en') + ' more sets of agents.',
  moreRows: (count) => 'And ' + count.toLocaleString('en') + ' more.',

  // Why robots.txt could not be read, in the words of a site's owner
  failure: ({ error, status, hops }) => {
    if (error === 'ERR_ROBOTS_ADDRESS_REFUSED' && !hops) return PRIVATE_ADDRESS;
    const byStatus = status !== undefined && (error === undefined || error === 'ERR_ROBOTS_STATUS');
    if (byStatus && status === 429) return 'the server asked for fewer requests (status 429)';
    if (byStatus)
      return 'the server responded with ' + (status >= 500 ? 'an error, ' : '') + 'status ' + status;
    if (/CERT|TLS|SSL/.test(error)) return failures[error] || 'the certificate of the server is not trusted';
    return failures[error] || failures.ERR_ROBOTS_FETCH_FAILED;
  },

  // Over time
  timelineTitle: 'Over time',
  now: 'Now',
  inTime: (length) => 'in ' + length,
  ago: (length) => length + ' ago',
  rightNow: 'now',
  inARow: (attempts) => ', ' + attempts + ' times in a row',
  events: {
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
  },
  phases: {
    'last-good': 'the last good copy applies',
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
};
