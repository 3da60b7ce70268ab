import {
  type Command,
  agentOption,
  allowPrivateOption,
  deadlineOption,
  evidenceOption,
  formatOptions,
  formats,
  listFormats,
  onlineOptions,
  profileOption,
  proxyOption,
  purposeOption,
  robotsOption,
} from './frame/command.ts';

/** The tables of the commands: what each takes, and the texts of its help. What it does is loaded when it runs. */

const check: Command = {
  name: 'check',
  summary: 'Decide for each URL whether the agent may fetch it, and why',
  operands: 'URL…',
  operandsHelp:
    'URL is an absolute http, https or ftp URL; "-" reads URLs from standard input, one per line; blank lines and ' +
    'lines that start with "#" are skipped. With --robots it may also be a path such as /a?b.',
  options: [agentOption, purposeOption, robotsOption, ...onlineOptions, evidenceOption, ...formatOptions()],
  examples: {
    'canfetch -a ExampleBot/1.0 https://example.com/page': 'may ExampleBot fetch this page?',
    'canfetch check --json - < urls.txt > decisions.ndjson': 'decide a list of URLs',
    'canfetch check --robots draft.txt -a ExampleBot /private/a': 'try a robots.txt before you publish it',
  },
  exitCodes: {
    0: 'every URL is allowed',
    1: 'at least one is disallowed, or robots.txt says that it is not wanted for --purpose',
    2: 'wrong usage, or an invalid URL; the other URLs are still decided (outranks 1 and 3)',
    3: 'at least one is undecided, because robots.txt is unreachable (outranks 1)',
  },
  notes: [
    'With --purpose a page may be ALLOWED and yet NOT WANTED for the purpose. That is a preference of the site, not a ' +
      'rule: the page may be fetched for other purposes. Header fields of pages are not read: explain --page does that.',
  ],
  run: async (given, session) => (await import('./check/run.ts')).checkUrls(given, session),
};

const explain: Command = {
  name: 'explain',
  summary:
    'Show why a URL is allowed or disallowed: the lines of the file, the matching rules, and the state of the origin',
  operands: 'URL',
  operandsHelp:
    'URL is an absolute http, https or ftp URL; with --robots it may also be a path such as /a?b.',
  options: [
    agentOption,
    purposeOption,
    robotsOption,
    ...onlineOptions,
    {
      name: 'page',
      help: 'if the URL is allowed, fetch it and show what X-Robots-Tag and other header fields say of its use',
    },
    { name: 'all', help: 'show every line of a long file' },
    ...formatOptions(),
  ],
  examples: {
    'canfetch explain -a ExampleBot https://example.com/page':
      'which line decides, and which other rules match?',
    'canfetch explain --robots draft.txt /private/a': 'try a robots.txt before you publish it',
  },
  exitCodes: {
    0: 'the URL is allowed',
    1: 'the URL is disallowed, or the site does not want it used for --purpose',
    2: 'wrong usage, or an invalid URL',
    3: 'the URL is undecided, because robots.txt is unreachable',
  },
  notes: [
    '--page reads header fields, not HTML: robots meta tags are not shown. Directives of a page are reported, and change ' +
      'neither the decision nor the exit code; with --purpose, what it states about that purpose counts. ' +
      'A page whose redirect is refused counts as disallowed.',
  ],
  run: async (given, session) => (await import('./explain/run.ts')).explain(given, session),
};

const policy: Command = {
  name: 'policy',
  summary: 'Show the state of an origin: the response for robots.txt, how long it is used, and why',
  operands: 'ORIGIN',
  operandsHelp: 'ORIGIN is the origin, or the absolute http, https or ftp URL of any of its pages.',
  options: [agentOption, ...onlineOptions, ...formatOptions()],
  examples: {
    'canfetch policy https://example.com': 'what is in force for a site, and until when?',
    "canfetch policy https://example.com --json | jq '.sitemaps[].url'": 'list its sitemaps',
  },
  exitCodes: {
    0: 'robots.txt was fetched, or there is none',
    2: 'wrong usage, or an invalid URL',
    3: 'robots.txt is unreachable',
  },
  run: async (given, session) => (await import('./policy/run.ts')).showPolicy(given, session),
};

const lint: Command = {
  name: 'lint',
  summary: 'Report problems of robots.txt files, line by line',
  operands: 'FILE|ORIGIN|-…',
  operandsHelp:
    'FILE is a robots.txt on disk; ORIGIN is an absolute http, https or ftp URL whose robots.txt is fetched; ' +
    '"-" is standard input.',
  options: [profileOption, ...formatOptions(), deadlineOption, proxyOption],
  examples: {
    'canfetch lint public/robots.txt': 'check a file before you publish it',
  },
  exitCodes: {
    0: 'no error and no warning, or the site has no robots.txt',
    1: 'an error or a warning',
    2: 'wrong usage, an unreadable file, or an invalid URL',
    3: 'a robots.txt is unreachable (outranks 1)',
  },
  run: async (given, session) => (await import('./lint/run.ts')).lintFiles(given, session),
};

const test: Command = {
  name: 'test',
  summary: 'Test that a robots.txt allows and disallows what you expect',
  operands: 'FILE|ORIGIN|-',
  operandsHelp:
    'FILE is a robots.txt on a disk, ORIGIN an absolute http, https or ftp URL whose robots.txt is fetched, ' +
    '"-" standard input.',
  options: [
    {
      name: 'expect',
      short: 'e',
      value: 'FILE',
      help: 'the expectations, one per line, such as "allow Googlebot /p"; "-" reads standard input',
    },
    profileOption,
    ...formatOptions(),
    deadlineOption,
    proxyOption,
  ],
  examples: {
    'canfetch test public/robots.txt --expect robots.expect': 'test a file before it is deployed',
  },
  exitCodes: {
    0: 'every expectation is met',
    1: 'at least one is not',
    2: 'wrong usage, a file that cannot be read, a line that is no expectation, or no expectations',
    3: 'the robots.txt of ORIGIN is unreachable',
  },
  notes: [
    'An expectation is "allow" or "disallow", the agent, and a URL or a path that starts with "/", separated by spaces. ' +
      'The agent is a product token, a whole User-Agent, or "*" for agents that no group names. ' +
      'Blank lines are ignored, and so is "#" with what follows it at the start of a line or after a space.',
  ],
  run: async (given, session) => (await import('./test/run.ts')).testRobots(given, session),
};

const prefetch: Command = {
  name: 'prefetch',
  summary: 'Fetch the robots.txt of every origin in a list of URLs',
  operands: 'FILE|-',
  operandsHelp:
    'FILE has an absolute http, https or ftp URL on each line; "-" is standard input. Blank lines and lines that ' +
    'start with "#" are skipped. The list is read as it is worked on, so it may have any length.',
  options: [
    agentOption,
    ...onlineOptions,
    evidenceOption,
    ...formatOptions(formats, 'json'),
    { name: 'concurrency', value: 'N', help: 'origins fetched at the same time; 32 by default' },
  ],
  examples: {
    'canfetch prefetch -a ExampleBot/1.0 urls.txt > origins.ndjson': 'survey the origins of a crawl',
    'canfetch prefetch -a ExampleBot/1.0 --store robots urls.txt > origins.ndjson':
      'keep the records; a second run after an interruption fetches only the rest',
  },
  exitCodes: {
    0: 'no robots.txt is unreachable',
    2: 'wrong usage, or a line that is not a URL; the other lines are still processed (outranks 3)',
    3: 'at least one robots.txt is unreachable',
  },
  notes: [
    'Each origin is fetched once, and gives one line of output as soon as it is done. The fields of the JSON: ' +
      'origin, state, reason (when no rules are in force), status, error, hops, finalUrl, fetchedAt, staleAt, retryAt, suspect (when the file looks like a page).',
    'In a list of more than a million origins, an origin may be reported again when it reappears.',
  ],
  run: async (given, session) => (await import('./prefetch/run.ts')).prefetchOrigins(given, session),
};

const cache: Command = {
  name: 'cache',
  summary: 'List, show or clear the records of a store',
  operands: 'ACTION [URL…]',
  operandsHelp:
    'ACTION is ls (list the origins), show URL… (show the record of each origin, with its file) or clear (delete all records, ' +
    'or with URL… those of these origins).',
  options: [
    {
      name: 'store',
      value: 'STORE',
      help: 'a file of SQLite, the `path` of sqliteStore(), or redis://HOST:PORT',
    },
    ...formatOptions(formats, 'text on a terminal, json elsewhere'),
  ],
  examples: {
    'canfetch cache ls --store robots.sqlite': 'list the origins in a store',
    'canfetch cache clear --store robots.sqlite https://example.com/':
      'fetch the robots.txt of that origin again at the next question',
  },
  exitCodes: {
    0: 'done',
    1: 'show or clear: the store has no record of an origin',
    2: 'wrong usage, or the store cannot be opened',
  },
  notes: [
    'show prints one line of JSON per origin, ls too where it prints no table.',
    'Crawlers may use the store at the same time; what they have in memory does not change. A file needs Node.js 22.13, or the package libsql or better-sqlite3; a server the package redis.',
    'In Redis it reads all keys that begin with canfetch:, with SCAN.',
  ],
  run: async (given, session) => (await import('./cache/run.ts')).runCache(given, session),
};

const replay: Command = {
  name: 'replay',
  summary: 'Make the decisions of a crawl again, from the evidence that it wrote',
  operands: 'FILE…',
  operandsHelp:
    'FILE was written with --evidence, or by evidenceFile(). Several files are read as one log, by time; names that end ' +
    'in .gz are unzipped; "-" is standard input.',
  options: [
    { ...profileOption, help: 'decide under this profile what was recorded under another' },
    { ...agentOption, repeatable: false, help: 'decide for this agent what was asked for another' },
    { name: 'origin', value: 'URL', help: 'only what was decided about this origin' },
    {
      name: 'since',
      value: 'DATE',
      help: 'only what was decided from this time on, such as 2026-11-23T08:00Z',
    },
    { name: 'until', value: 'DATE', help: 'only what was decided before this time' },
    { name: 'list', help: 'list each decision in words, and what became of its request' },
    {
      name: 'summary',
      help: 'count by agent and origin what was allowed, refused, not wanted, deferred, requested, and requested although refused',
    },
    { name: 'url', value: 'URL', help: 'the same for this page alone' },
    { ...purposeOption, help: 'with --list or --url: what the recorded files say about this purpose' },
    { name: 'versions', help: 'list the versions of each robots.txt, from when to when, with their SHA-256' },
    { name: 'body', value: 'SHA256', help: 'write the bytes of this version of a robots.txt' },
    {
      name: 'conduct',
      help: 'list requests that were sent although they were refused, and those sent too early for a pause, Retry-After, Crawl-delay, Request-rate or the delays of `pacing`',
    },
    ...formatOptions(listFormats),
  ],
  examples: {
    'canfetch replay evidence.ndjson': 'does the evidence support every decision?',
    'canfetch replay --profile google evidence.ndjson': 'which decisions would Google have made differently?',
    'canfetch replay --list --format csv evidence.ndjson': 'what was decided, why, and what became of it?',
    'canfetch replay --conduct evidence.ndjson': 'did the crawler wait as the sites asked?',
  },
  exitCodes: {
    0: 'every decision is as recorded; with --conduct: no request was too early, or sent although refused',
    1: 'a decision differs, lines are missing or were changed; a request was too early, or sent although refused',
    2: 'wrong usage, nothing to judge, a line that is no evidence, or bytes that do not have their digest',
  },
  notes: [
    'Another profile would have fetched at other times: here a response holds until the next one in the log.',
  ],
  run: async (given, session) => (await import('./replay/run.ts')).replayFiles(given, session),
};

export const serve: Command = {
  name: 'serve',
  summary: 'Serve decisions over HTTP: JSON for crawlers in other languages, and a page for people',
  operands: '',
  operandsHelp: 'There are no operands. / is the page.',
  options: [
    {
      name: 'host',
      value: 'ADDRESS',
      help: 'the address to listen on; 127.0.0.1 by default, which only this machine reaches',
    },
    {
      name: 'port',
      value: 'PORT',
      help: 'the port to listen on; 8309 by default; 0 chooses a free one and prints it',
    },
    {
      name: 'allow-host',
      value: 'NAME',
      repeatable: true,
      help: 'accept this name in the Host field, with any port, besides localhost and the address it listens on',
    },
    allowPrivateOption,
    {
      ...agentOption,
      help: 'the agent for requests that give none; the first is also the User-Agent of fetches',
    },
    ...onlineOptions,
    evidenceOption,
    {
      name: 'log',
      help: 'write a line of JSON for each request on standard error; failures (5xx) always have one',
    },
  ],
  examples: {
    'canfetch serve': 'start it, then open http://127.0.0.1:8309/',
    'canfetch serve --host 0.0.0.0 --allow-host robots.internal -a ExampleBot/1.0':
      'serve a fleet under the name robots.internal',
  },
  exitCodes: {
    0: 'ended by SIGTERM, after it responded to the open requests',
    2: 'wrong usage, or it cannot listen on the address',
  },
  notes: ['With --evidence, SIGHUP starts a new file under the same path: rename the old one before.'],
  run: async (given, session) => (await import('./serve/run.ts')).serve(given, session),
};

const mcp: Command = {
  name: 'mcp',
  summary: 'Give decisions to AI agents over the Model Context Protocol, and fetch pages for them',
  operands: '',
  operandsHelp:
    'It takes no operands. A host (an editor, a chat program) starts it and talks to it over standard input and ' +
    'output. Its tools are check_url, explain_url, site_policy and fetch_page.',
  options: [
    { ...agentOption, help: 'the agent that requests pages and robots.txt' },
    {
      ...purposeOption,
      help: 'what pages are fetched for; fetch_page refuses pages that Content-Usage or Content-Signal does not want used for it, and notes what pages themselves say (noai, tdm-reservation)',
    },
    allowPrivateOption,
    ...onlineOptions,
    evidenceOption,
  ],
  examples: {
    'canfetch mcp -a "ExampleAgent/1.0 (+https://example.com/agent)"':
      'the line for the configuration of a host',
  },
  exitCodes: {
    0: 'the host closed standard input, or the process got SIGTERM',
    2: 'wrong usage, or the package @modelcontextprotocol/server is not installed',
  },
  notes: [
    'It needs the package @modelcontextprotocol/server, and node-html-markdown makes Markdown of HTML: npm install node-html-markdown @modelcontextprotocol/server',
  ],
  run: async (given, session) => (await import('./mcp/run.ts')).serveAgents(given, session),
};

/** Every command, in the order `--help` lists them. */
export const commands: readonly Command[] = [
  check,
  explain,
  policy,
  lint,
  test,
  prefetch,
  cache,
  replay,
  serve,
  mcp,
];

/** The command that runs when the first argument names none: `canfetch https://example.com/`. */
export const defaultCommand: Command = check;
