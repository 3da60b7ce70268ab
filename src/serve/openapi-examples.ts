/** Examples of requests and answers: `https://example.com` serves the lines of {@link lines}. */

const lines = ['User-agent: *', 'Disallow: /private', 'Allow: /private/press'];

const origin = 'https://example.com';
const url = `${origin}/private/report`;
const agent = 'ExampleBot';
const fetchedAt = 1_795_268_260_000;
const staleAt = fetchedAt + 3_550_000;
const rule = { directive: 'disallow', pattern: '/private', line: 2 };
const group = { agent: '*', lines: [1] };
const robots = {
  url: `${origin}/robots.txt`,
  finalUrl: `${origin}/robots.txt`,
  hops: 0,
  status: 200,
  fetchedAt,
  staleAt,
  source: 'network',
};
const verdict = { agent, allowed: false, reason: 'rule', rule, group };
const decision = {
  schemaVersion: 1,
  input: url,
  url,
  origin,
  agent,
  profile: 'rfc9309',
  state: 'rules',
  allowed: false,
  reason: 'rule',
  rule,
  group,
  robots,
};
const groups = [
  {
    agentLines: [{ names: ['*'], written: '*', line: 1, block: 0 }],
    rules: [rule, { directive: 'allow', pattern: '/private/press', line: 3 }],
  },
];
const groupRanges = [{ agent: '*', ranges: [[1, 3]] }];
const fileParts = { groups, sitemaps: [], diagnostics: [] };
const timeline = [
  { at: fetchedAt, event: 'answered', detail: 'status 200' },
  { at: fetchedAt + 3_195_000, event: 'refresh-ahead' },
  { at: staleAt, event: 'stale' },
];
const policy = {
  origin,
  profile: 'rfc9309',
  state: 'rules',
  agent,
  robots,
  addressChecks: 'connections',
  lifetime: {
    fetchedAt,
    staleAt,
    jitterMs: 50_000,
    why: { source: 'max-age', seconds: 3_600, ageSeconds: 0, lifetimeMs: 3_600_000 },
  },
  group,
  underProfiles: [{ profile: 'google', state: 'rules' }],
};

interface Examples {
  readonly url: string;
  readonly origin: string;
  readonly agent: readonly string[];
  readonly compare: readonly string[];
  readonly purpose: string;
  readonly decision: object;
  readonly policy: object;
  readonly explanation: object;
  readonly question: object;
  readonly pastedFile: object;
  readonly pastedVerdicts: object;
  readonly metrics: string;
}

export const examples: Examples = {
  url,
  origin,
  agent: [agent],
  compare: ['*', 'GPTBot'],
  purpose: 'train-ai',
  decision,
  policy: { schemaVersion: 1, ...policy, ...fileParts, timeline },
  explanation: {
    ...decision,
    now: fetchedAt + 200,
    verdicts: [verdict, { ...verdict, agent: '*' }, { ...verdict, agent: 'GPTBot' }],
    timeline,
    underProfiles: [{ profile: 'google', state: 'rules', allowed: false, line: 2 }],
    policy,
    lines,
    ...fileParts,
    groupRanges,
    lifetimeReason: 'max-age=3600, 50 s taken off at random',
  },
  question: { url, agent: [agent], purpose: 'train-ai' },
  pastedFile: {
    robots: lines.map((line) => `${line}\n`).join(''),
    urls: ['/private/report'],
    agents: [agent],
  },
  pastedVerdicts: {
    schemaVersion: 1,
    profile: 'rfc9309',
    dialect: 'rfc9309',
    truncated: false,
    results: [{ input: '/private/report', verdicts: [verdict] }],
    lines,
    groupRanges,
    ...fileParts,
  },
  metrics: '# HELP canfetch_decisions_total Decisions\n# TYPE canfetch_decisions_total counter\n',
};
