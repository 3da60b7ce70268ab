import { VERSION } from '../../version.ts';
import { MAX_STREAMS } from './check.ts';
import { MAX_AGENTS } from './query.ts';

const content = (type: string, schema: object): object => ({
  content: { [type]: { schema } },
});
const reference = (name: string): object => ({
  $ref: `#/components/schemas/${name}`,
});
const json = (description: string, schema: object): object => ({
  description,
  ...content('application/json', schema),
});
const parameter = (name: string, description: string, required: boolean): object => ({
  name,
  in: 'query',
  required,
  description,
  schema: { type: 'string' },
});
const agents = (name: string, description: string): object => ({
  name,
  in: 'query',
  description,
  schema: { type: 'array', items: { type: 'string' }, maxItems: MAX_AGENTS },
  style: 'form',
  explode: true,
});

const agent = agents(
  'agent',
  'Who asks: a product token or a whole User-Agent string. Of several, in order of preference, the first that some ' +
    'group names counts.',
);
const problem = (description: string): object => ({
  description,
  ...content('application/problem+json', reference('Problem')),
});
const problems = {
  '400': problem('Something given is not what it must be; `code` and `detail` say what.'),
  '421': problem('The Host is none that the service goes by.'),
};
const text = { type: 'string' };
const flag = { type: 'boolean' };
const line = { type: 'integer', minimum: 1 };
const epochMs = { type: 'number', description: 'Epoch milliseconds' };
const list = (items: object): object => ({ type: 'array', items });
const object = (properties: object, required: readonly string[] = []): object => ({
  type: 'object',
  properties,
  required,
});

const reasons = [
  'robots-txt',
  'rule',
  'no-rule',
  'no-group',
  'unavailable',
  'unreachable-expired',
  'unreachable',
  'restricted',
  'override',
];
const rule = object({ directive: { enum: ['allow', 'disallow'] }, pattern: text, line }, [
  'directive',
  'pattern',
  'line',
]);
const group = object({ agent: text, lines: list(line) }, ['agent', 'lines']);
const runnerUp = object({ rule, lost: { enum: ['shorter', 'tie', 'later'] } }, ['rule', 'lost']);
const states = {
  enum: ['rules', 'last-good', 'allow-all', 'disallow-all', 'unknown'],
};
const fileParts = {
  lines: list(text),
  groups: list({ type: 'object' }),
  sitemaps: list(object({ url: text, line }, ['url', 'line'])),
  diagnostics: list(reference('Diagnostic')),
};

const schemas = {
  Problem: object(
    {
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: text,
    },
    ['type', 'title', 'status', 'detail', 'code'],
  ),
  Decision: object(
    {
      schemaVersion: { const: 1 },
      input: text,
      url: text,
      origin: text,
      agent: text,
      profile: text,
      state: states,
      allowed: flag,
      reason: { enum: reasons },
      rule,
      group,
      crawlDelayMs: { type: 'number' },
      retryAt: epochMs,
      because: text,
      robots: {
        type: 'object',
        description: 'Where the answer comes from, and until when it holds',
      },
    },
    ['schemaVersion', 'input', 'url', 'origin', 'agent', 'profile', 'state', 'allowed', 'reason', 'robots'],
  ),
  LineError: object(
    {
      schemaVersion: { const: 1 },
      input: text,
      line,
      error: object({ code: text, message: text }),
    },
    ['schemaVersion', 'error'],
  ),
  Verdict: object(
    {
      agent: text,
      allowed: flag,
      reason: { enum: reasons },
      rule,
      group,
      crawlDelayMs: { type: 'number' },
      runnerUp,
      usage: { type: 'object' },
    },
    ['agent', 'allowed', 'reason'],
  ),
  Diagnostic: object(
    {
      code: text,
      severity: { enum: ['error', 'warning', 'info'] },
      line,
      column: line,
      text,
      message: text,
      hint: text,
      explanation: text,
    },
    ['code', 'severity', 'line', 'column', 'text', 'message', 'hint', 'explanation'],
  ),
  Policy: object(
    {
      schemaVersion: { const: 1 },
      origin: text,
      profile: text,
      state: states,
      reason: text,
      agent: text,
      groups: fileParts.groups,
      sitemaps: fileParts.sitemaps,
      diagnostics: fileParts.diagnostics,
      timeline: list(object({ at: epochMs, event: text, detail: text }, ['at', 'event'])),
      usage: { type: 'object' },
    },
    ['schemaVersion', 'origin', 'profile', 'state', 'agent', 'groups', 'sitemaps', 'diagnostics', 'timeline'],
  ),
  Explanation: {
    allOf: [
      reference('Decision'),
      object(
        {
          ...fileParts,
          now: epochMs,
          runnerUp,
          groupLines: list(line),
          verdicts: list(reference('Verdict')),
          timeline: list(object({ at: epochMs, event: text, detail: text }, ['at', 'event'])),
          lifetimeReason: text,
          underProfiles: list({ type: 'object' }),
          policy: { type: 'object' },
          usage: { type: 'object' },
        },
        ['now', 'verdicts', 'timeline', 'underProfiles', 'policy'],
      ),
    ],
  },
  Question: {
    oneOf: [text, object({ url: text, agent: { oneOf: [text, list(text)] } }, ['url'])],
  },
  PastedFile: object(
    {
      robots: { type: 'string', description: 'The text of a robots.txt' },
      urls: {
        ...list(text),
        description: 'URLs, or paths that start with "/"',
      },
      agents: list(text),
      profile: text,
    },
    ['robots', 'urls'],
  ),
  PastedVerdicts: object(
    {
      schemaVersion: { const: 1 },
      profile: text,
      dialect: text,
      truncated: flag,
      results: list(
        object(
          {
            input: text,
            verdicts: list(reference('Verdict')),
            error: object({ code: text, message: text }),
          },
          ['input'],
        ),
      ),
      ...fileParts,
    },
    [
      'schemaVersion',
      'profile',
      'dialect',
      'truncated',
      'results',
      'lines',
      'groups',
      'sitemaps',
      'diagnostics',
    ],
  ),
};

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

/** What the service answers, for programs that make clients. */
export const openApi: {
  readonly openapi: string;
  readonly info: object;
  /** By path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
} = {
  openapi: '3.1.0',
  info: {
    title: 'canfetch',
    version: VERSION,
    description: 'May this agent fetch this URL, and why? Decisions by robots.txt (RFC 9309) over HTTP.',
  },
  paths: {
    '/v1/check': {
      get: {
        summary: 'Decide about one URL',
        parameters: [parameter('url', 'An absolute http, https or ftp URL', true), agent],
        responses: {
          '200': json('The decision, be it for or against', reference('Decision')),
          ...problems,
        },
      },
      post: {
        summary: 'Decide about any number of URLs: a line each, answered in order while they still come',
        parameters: [agent],
        requestBody: {
          required: true,
          ...content('application/x-ndjson', reference('Question')),
        },
        responses: {
          '200': {
            description: 'A line for each: a decision, or what is wrong with the question',
            ...content('application/x-ndjson', {
              oneOf: [reference('Decision'), reference('LineError')],
            }),
          },
          ...problems,
          '403': problem('The request comes from a page of another site.'),
          '415': problem('The body has a Content-Encoding.'),
          '503': problem(`${MAX_STREAMS} such requests are under way already.`),
        },
      },
    },
    '/v1/policy': {
      get: {
        summary: 'Everything known of an origin, and why it is so',
        parameters: [parameter('origin', 'An absolute URL, of any page', true), agent],
        responses: {
          '200': json('The policy', reference('Policy')),
          ...problems,
        },
      },
    },
    '/v1/explain': {
      get: {
        summary:
          'One decision with all that it rests on: the file, the rules that compete, what is wrong, what others get',
        parameters: [
          parameter('url', 'An absolute http, https or ftp URL', true),
          agent,
          agents('compare', 'Agents whose verdicts stand beside it, each by itself'),
        ],
        responses: {
          '200': json('The explanation', reference('Explanation')),
          ...problems,
        },
      },
      post: {
        summary: 'Hold URLs against a robots.txt that is given, for several agents; nothing is fetched',
        requestBody: {
          required: true,
          ...content('application/json', reference('PastedFile')),
        },
        responses: {
          '200': json('A verdict for each URL and agent', reference('PastedVerdicts')),
          ...problems,
          '403': problem('The request comes from a page of another site.'),
          '408': problem('The body did not arrive in time.'),
          '413': problem('The body is longer than 1 MiB.'),
          '415': problem('The body has a Content-Encoding.'),
        },
      },
    },
    '/metrics': {
      get: {
        summary: 'Counters for Prometheus',
        responses: {
          '200': {
            description: 'Text exposition format',
            ...content('text/plain', text),
          },
          '421': problems['421'],
          '501': problem('The package prom-client is not installed.'),
        },
      },
    },
    '/openapi.json': {
      get: {
        summary: 'This',
        responses: {
          '200': json('An OpenAPI description', { type: 'object' }),
          '421': problems['421'],
        },
      },
    },
    '/healthz': {
      get: {
        summary: 'Whether the service runs',
        responses: {
          '200': json('It does', object({ status: { const: 'ok' }, version: text }, ['status', 'version'])),
          '421': problems['421'],
        },
      },
    },
  },
  components: { schemas },
};
