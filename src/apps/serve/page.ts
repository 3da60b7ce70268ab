import { readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { messageOf, omitUndefined, TimeSlice } from '../../core/base/index.ts';
import type { Decision, Purpose } from '../../core/decision/index.ts';
import { profiles } from '../../core/lifecycle/index.ts';
import { lint, parseRobots } from '../../core/rules/index.ts';
import { describeDiagnostic } from '../../core/rules/lint/findings.ts';
import type { Agent } from '../../core/decision/agent-tokens.ts';
import { originOf } from '../../core/url/index.ts';
import { deciderByFile, fileSource, usageFor } from '../answers/decide.ts';
import { annotateAll, explainFile, explainUrl, type UrlExplanation } from '../answers/explanation.ts';
import { BARE_HOST, readRobots } from '../answers/input/load-robots.ts';
import { type FileDecision, type ReportedDecision, verdictKinds, verdictName } from '../answers/verdict.ts';
import { isVisitors } from './own-site.ts';
import { purposeOf, readAgents, readBody } from './request.ts';
import { agentOf, limitLargeAnswers } from './questions.ts';
import type { Exchange, Service } from './exchange.ts';
import { type Handler, invalid, type Problem, problemOf, type Reply } from './reply.ts';
import { DEFAULT_COMPARED, documentOf, type Fields, type Page } from './page/document.ts';
import { type LinkTo, resultOf } from './page/result.ts';

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="5" y="2" width="22" height="28" rx="3" fill="#1f4f8f"/>
<g fill="#fff"><rect x="9" y="8" width="14" height="2" opacity=".55"/><rect x="9" y="14" width="14" height="4"/><rect x="9" y="22" width="10" height="2" opacity=".55"/></g>
</svg>`;

/** Read once, at import. The build puts it beside the chunk that this module becomes a part of. */
const STYLE = readFileSync(new URL('page/style.css', import.meta.url));

export const stylePage: Handler = () => ({ type: 'text/css; charset=utf-8', body: STYLE });
export const iconPage: Handler = () => ({ type: 'image/svg+xml', body: ICON });

type Answer = Pick<Page, 'title' | 'note' | 'result' | 'json'>;

/** `GET /`: the form, and the answer to the question in the query. */
export const askPage: Handler = (exchange) => {
  const { query, request } = exchange;
  const fields: Fields = {
    url: withScheme((query.get('url') ?? '').trim()),
    agent: query.getAll('agent').join(', '),
    compare: query.has('compare') ? query.getAll('compare').join(', ') : DEFAULT_COMPARED,
    purpose: query.get('purpose') ?? '',
  };
  const page: Page = { form: 'ask', fields };
  if (fields.url === '') return pageReply(page);
  if (isVisitors(request)) return answerOrFault(page, () => answerSite(fields, exchange));
  return pageReply({ ...page, note: 'This question is not asked yet. Press the button to ask it.' });
};

/** `GET /try`: the form for a file. */
export const tryPage: Handler = () => pageReply({ form: 'try', fields: {} });

/** `POST /try`: the verdict by the file in the form. Uses no network. */
export const tryFile: Handler = async (exchange) => {
  const form = await readForm(exchange).catch((error: unknown) =>
    faultReply({ form: 'try', fields: {} }, error, 'robots'),
  );
  if (!(form instanceof FormData)) return form;
  const text = (name: string): string => String(form.get(name) ?? '').replaceAll('\r\n', '\n');
  const file = form.get('file');
  const fields: Fields = {
    url: text('url').trim() || '/',
    agent: text('agent'),
    compare: text('compare'),
    robots: file instanceof Blob && file.size > 0 ? await file.text() : text('robots'),
    purpose: text('purpose'),
  };
  return answerOrFault({ form: 'try', fields }, () => answerPasted(fields, exchange));
};

async function answerSite(fields: Fields, exchange: Exchange): Promise<Answer> {
  const { service, signal } = exchange;
  const { url = '' } = fields;
  const { host: where } = new URL(inField('url', () => originOf(url)));
  const { agent, others, purpose } = questionOf(fields, service);
  limitLargeAnswers(exchange);
  const explained = await explainUrl(service.client, url, { agent, purpose, signal });
  exchange.decision = explained.decision;
  const options = omitUndefined({ signal, purpose });
  const decide = (other: string): Promise<Decision> => service.client.check(url, other, options);
  const link = (path: string, first: string, compared: readonly string[] = []): string => {
    const query = new URLSearchParams({ url, agent: first });
    for (const other of compared) query.append('compare', other);
    if (purpose !== undefined) query.set('purpose', purpose);
    return `${path}?${query}`;
  };
  const linkTo = link.bind(undefined, '/');
  const answer = await answerOf(explained, { others, decide, linkTo, where }, signal);
  return { ...answer, json: link('/v1/explain', explained.decision.agent) };
}

async function answerPasted(fields: Fields, { service, signal }: Exchange): Promise<Answer> {
  const { robots = '', url: input = '/' } = fields;
  const { agent = [], others, purpose } = questionOf(fields, service);
  const { profile } = service;
  const { body, truncated } = await readRobots('-', Readable.from([Buffer.from(robots)]), 'robots').catch(
    (error: unknown) => {
      throw new FieldFault('robots', invalid(messageOf(error)));
    },
  );
  const file = parseRobots(body, { dialect: profiles[profile].dialect });
  const source = fileSource('pasted robots.txt', body, truncated);
  const addUsage = purpose && (await usageFor(purpose));
  const decide = (agents: string | readonly string[]): FileDecision => {
    const settings = { agents: [agents].flat(), profile, robots: source };
    const decided = deciderByFile(file, settings, addUsage)({ input });
    if ('error' in decided) throw new FieldFault('url', invalid(decided.error.message));
    return decided.decision;
  };
  const beside = { others, decide, where: 'pasted robots.txt' };
  const answer = await answerOf(explainFile(decide(agent), file), beside, signal);
  return robots.trim() === '' ? { ...answer, note: 'This robots.txt is empty: it has no rules.' } : answer;
}

/** @throws FieldFault for an agent without a product token, and for too many. */
function questionOf({ agent = '', compare = '', purpose = '' }: Fields, service: Service): Question {
  return {
    agent: inField('agent', () => agentOf(namesOf(agent), service)),
    others: inField('compare', () => readAgents(namesOf(compare))),
    // The form has a list of them: a wrong one is in the link.
    purpose: purpose === '' ? undefined : purposeOf(purpose),
  };
}

interface Question {
  readonly agent: Agent | undefined;
  readonly others: readonly string[];
  readonly purpose: Purpose | undefined;
}

/** What is shown beside an explanation: the decisions for other agents, and where it comes from. */
interface Beside {
  readonly others: readonly string[];
  readonly decide: (agent: string) => ReportedDecision | Promise<ReportedDecision>;
  readonly linkTo?: LinkTo;
  readonly where: string;
}

async function answerOf(
  explanation: UrlExplanation,
  { others, decide, linkTo, where }: Beside,
  signal: AbortSignal,
): Promise<Answer> {
  const { file, decision } = explanation;
  const decisions = [decision];
  const slice = new TimeSlice(signal);
  for (const other of others) {
    decisions.push(await decide(other));
    if (slice.isOver) await slice.yield();
  }
  const lines = file === undefined ? [] : annotateAll({ ...explanation, file });
  const diagnostics =
    file === undefined ? [] : lint(file).map((found) => ({ ...found, ...describeDiagnostic(found) }));
  const result = resultOf({ explanation, decisions, lines, diagnostics, now: Date.now() }, linkTo);
  return { title: `${verdictKinds[verdictName(decision)].title}: ${where}`, result };
}

/** A mistake in a field. */
class FieldFault extends Error {
  readonly field: keyof Fields;

  constructor(field: keyof Fields, cause: unknown) {
    super('A field of the form is not as expected', { cause });
    this.field = field;
  }
}

function inField<Value>(field: keyof Fields, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    throw new FieldFault(field, error);
  }
}

async function answerOrFault(page: Page, answer: () => Promise<Answer>): Promise<Reply> {
  try {
    return pageReply({ ...page, ...(await answer()) });
  } catch (error) {
    return error instanceof FieldFault
      ? faultReply(page, error.cause, error.field)
      : faultReply(page, error, undefined);
  }
}

function faultReply(page: Page, error: unknown, field: keyof Fields | undefined): Reply {
  const problem = problemOf(error);
  if (problem === undefined) throw error;
  return pageReply({ ...page, fault: { field, message: problem.message } }, problem);
}

function pageReply(page: Page, { status = 200, headers = {} }: Partial<Problem> = {}): Reply {
  return { type: 'text/html; charset=utf-8', body: documentOf(page), status, headers };
}

/** A pasted file of 500 KiB, and one that was opened; escapes lengthen them. */
const MAX_FORM_BYTES = 2_097_152;

/** The platform parses forms. The body has a pasted file, or one that was opened, or both. */
async function readForm(exchange: Exchange): Promise<FormData> {
  limitLargeAnswers(exchange);
  const { request } = exchange;
  const body = await readBody(request, MAX_FORM_BYTES);
  try {
    const headers = { 'content-type': request.headers['content-type'] ?? '' };
    return await new Response(body, { headers }).formData();
  } catch (cause) {
    throw invalid('Expected a form, got something else', { cause });
  }
}

/** Splits a list at commas and line ends, but not at commas in the comment of a User-Agent. */
function namesOf(text: string): readonly string[] {
  const parts = text.match(/(?:\([^)\n]*\)|[^,\n])+/g) ?? [];
  return [...new Set(parts.map((part) => part.trim()).filter((part) => part !== ''))];
}

/** A bare host name is completed as in browsers. */
function withScheme(text: string): string {
  return BARE_HOST.test(text) ? `https://${text}` : text;
}
