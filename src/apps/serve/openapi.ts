import { VERSION } from '../../core/base/index.ts';
import { questionLine } from './check.ts';
import { PURPOSES } from '../../core/decision/index.ts';
import { JSON_TYPE, NDJSON_TYPE } from './reply.ts';
import { MAX_AGENTS } from './request.ts';
import { z } from 'zod';
import { decision, group, lineError, robots, rule, usage } from '../answers/schema/decision.ts';
import { explanation, policy } from '../answers/schema/policy.ts';
import { doneResult, reservation } from '../answers/schema/reservation.ts';
import { doneReport, reserveQuestion } from './reserve.ts';

const string = z.string();
const all: Readonly<Record<string, z.ZodType>> = {
  Rule: rule,
  Group: group,
  RobotsSource: robots,
  Decision: decision,
  LineError: lineError,
  Usage: usage,
  Policy: policy,
  Explanation: explanation,
  Reservation: reservation,
  Done: doneResult,
  Problem: z.object({ type: string, title: string, status: z.int(), detail: string, code: string }),
  Question: z.union([string, questionLine]),
  ReserveQuestion: reserveQuestion,
  DoneReport: doneReport,
};

const registry = z.registry<{ readonly id: string }>();
for (const [id, schema] of Object.entries(all)) registry.add(schema, { id });

const described = z.toJSONSchema(registry, {
  uri: (id) => `#/components/schemas/${id}`,
  io: 'input',
  unrepresentable: 'any',
});

/** The schemas of requests and responses, by name, in JSON Schema 2020-12, which OpenAPI 3.1 uses. */
const schemas: Readonly<Record<string, object>> = Object.fromEntries(
  Object.entries(described.schemas).map(([name, schema]) => {
    delete schema.$schema;
    delete schema.$id;
    return [name, schema];
  }),
);

/** Makes a reference to one of {@link schemas}. */
const reference = (name: string): object => ({ $ref: `#/components/schemas/${name}` });

const text = { type: 'string' };

const content = (type: string, schema: object): object => ({
  content: { [type]: { schema } },
});
type Responses = Readonly<Record<string, object>>;
/** Every other response. */
const failed: Responses = {
  default: {
    description:
      'A problem (RFC 9457): `code` and `detail` say what is wrong. With 503, `Retry-After` says when to ask again.',
    ...content('application/problem+json', reference('Problem')),
  },
};
const responses = (description: string, type: string, schema: object): Responses => ({
  200: { description, ...content(type, schema) },
  ...failed,
});
/** The usual response: the schema of that name. */
const answer = (description: string, name: string): Responses =>
  responses(description, JSON_TYPE, reference(name));
const body = (name: string, type: string = JSON_TYPE): object => ({
  required: true,
  ...content(type, reference(name)),
});
const required = (name: string, description: string): object => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: text,
});

const url = required('url', 'An absolute http, https or ftp URL');
const agent = {
  name: 'agent',
  in: 'query',
  description:
    'The crawler: a product token or a full User-Agent string. Of several, in order of preference, the first that ' +
    'some group names is used.',
  schema: { type: 'array', items: text, maxItems: MAX_AGENTS },
  style: 'form',
  explode: true,
};
const purpose = {
  name: 'purpose',
  in: 'query',
  description:
    'What the pages are fetched for. `usage` then has `preference`, whether the site wants them used so, and `source`, the ' +
    'line that says it. `allowed` stays as it is.',
  schema: { enum: PURPOSES },
};
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters?: readonly object[];
  readonly requestBody?: object;
  readonly responses: Responses;
}

/** OpenAPI description of the service, for generators of clients. */
export const openApi: {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly object[];
  /** Empty: the service has no accounts. */
  readonly security: readonly object[];
  /** Operations by path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
} = {
  openapi: '3.1.0',
  info: {
    title: 'canfetch',
    version: VERSION,
    description: 'May this agent fetch this URL, and why? Decisions by robots.txt (RFC 9309) over HTTP.',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [{ url: '/', description: 'The service that serves this description' }],
  security: [],
  paths: {
    '/v1/check': {
      get: {
        operationId: 'checkUrl',
        summary: 'Decide about one URL',
        parameters: [url, agent, purpose],
        responses: answer('The decision, whether it allows or disallows', 'Decision'),
      },
      post: {
        operationId: 'checkUrls',
        summary:
          'Decide about any number of URLs, one per line; results are sent in order while lines still arrive',
        parameters: [agent, purpose],
        requestBody: body('Question', NDJSON_TYPE),
        responses: responses('One line for each question: a decision, or an error', NDJSON_TYPE, {
          oneOf: [reference('Decision'), reference('LineError')],
        }),
      },
    },
    '/v1/policy': {
      get: {
        operationId: 'getPolicy',
        summary: 'The state of an origin, and how it came about',
        parameters: [required('origin', 'The origin, or the absolute URL of any of its pages'), agent],
        responses: answer('The policy', 'Policy'),
      },
    },
    '/v1/explain': {
      get: {
        operationId: 'explainUrl',
        summary: 'One decision with its reasons: the rules that match, and the state of the origin',
        parameters: [url, agent, purpose],
        responses: answer('The explanation', 'Explanation'),
      },
    },
    '/v1/reserve': {
      post: {
        operationId: 'reserveRequest',
        summary:
          'Book the next request to a site at its pace: when to send it, or when to ask again, or why not',
        requestBody: body('ReserveQuestion'),
        responses: answer('The booking, the deferral or the refusal', 'Reservation'),
      },
    },
    '/v1/done': {
      post: {
        operationId: 'endRequest',
        summary:
          'End the request of a booking: its status and Retry-After pause the site for all who ask this service',
        requestBody: body('DoneReport'),
        responses: answer('It has ended', 'Done'),
      },
    },
  },
  components: { schemas },
};
