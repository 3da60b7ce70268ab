import { VERSION } from '../base/index.ts';
import { MAX_STREAMS } from './check.ts';
import { object, purpose as purposeSchema, reference, schemas, text } from './openapi-schemas.ts';
import { MAX_AGENTS } from './query.ts';

const content = (type: string, schema: object): object => ({ content: { [type]: { schema } } });
const json = (description: string, schema: object): object => ({
  description,
  ...content('application/json', schema),
});
const problem = (description: string): object => ({
  description,
  ...content('application/problem+json', reference('Problem')),
});
const required = (name: string, description: string): object => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: text,
});
const agents = (name: string, description: string): object => ({
  name,
  in: 'query',
  description,
  schema: { type: 'array', items: text, maxItems: MAX_AGENTS },
  style: 'form',
  explode: true,
});

const url = required('url', 'An absolute http, https or ftp URL');
const agent = agents(
  'agent',
  'The crawler: a product token or a full User-Agent string. Of several, in order of preference, the first that ' +
    'some group names is used.',
);
const purpose = {
  name: 'purpose',
  in: 'query',
  description:
    'What the pages are fetched for. `usage` then has `preference`, whether the site wants them used so, and `source`, the ' +
    'line that says it. `allowed` stays as it is.',
  schema: purposeSchema,
};
const wrongHost = { '421': problem('The service does not accept this Host.') };
const wrong = {
  '400': problem('A parameter or the body is invalid; `code` and `detail` say which.'),
  ...wrongHost,
};
const wrongPost = {
  ...wrong,
  '403': problem('The request comes from a page of another site.'),
  '415': problem('The body has a Content-Encoding.'),
};

interface Operation {
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Readonly<Record<string, object>>;
}

/** OpenAPI description of the service, for generators of clients. */
export const openApi: {
  readonly openapi: string;
  readonly info: object;
  /** Operations by path, then by method in lower case. */
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
        parameters: [url, agent, purpose],
        responses: {
          '200': json('The decision, whether it allows or disallows', reference('Decision')),
          ...wrong,
        },
      },
      post: {
        summary:
          'Decide about any number of URLs, one per line; results are sent in order while lines still arrive',
        parameters: [agent, purpose],
        requestBody: {
          required: true,
          ...content('application/x-ndjson', reference('Question')),
        },
        responses: {
          '200': {
            description: 'One line for each question: a decision, or an error',
            ...content('application/x-ndjson', {
              oneOf: [reference('Decision'), reference('LineError')],
            }),
          },
          ...wrongPost,
          '503': problem(`${MAX_STREAMS} such requests are in progress already.`),
        },
      },
    },
    '/v1/policy': {
      get: {
        summary: 'The state of an origin, and how it came about',
        parameters: [required('origin', 'The origin, or the absolute URL of any of its pages'), agent],
        responses: {
          '200': json('The policy', reference('Policy')),
          ...wrong,
        },
      },
    },
    '/v1/explain': {
      get: {
        summary:
          'One decision with its reasons: the file, the matching rules, diagnostics, and the verdicts of other agents',
        parameters: [url, agent, agents('compare', 'Further agents to show verdicts for'), purpose],
        responses: {
          '200': json('The explanation', reference('Explanation')),
          ...wrong,
        },
      },
      post: {
        summary: 'Check URLs against the robots.txt in the body, for several agents; nothing is fetched',
        requestBody: {
          required: true,
          ...content('application/json', reference('PastedFile')),
        },
        responses: {
          '200': json('A verdict for each URL and agent', reference('PastedVerdicts')),
          ...wrongPost,
          '408': problem('The body did not arrive in time.'),
          '413': problem('The body is longer than 1 MiB.'),
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
          ...wrongHost,
          '501': problem('The package prom-client is not installed.'),
        },
      },
    },
    '/openapi.json': {
      get: {
        summary: 'This description',
        responses: {
          '200': json('An OpenAPI description', { type: 'object' }),
          ...wrongHost,
        },
      },
    },
    '/healthz': {
      get: {
        summary: 'Whether the service is running',
        responses: {
          '200': json('It is running', object({ status: { const: 'ok' }, version: text })),
          ...wrongHost,
        },
      },
    },
  },
  components: { schemas },
};
