import type { IncomingMessage } from 'node:http';
import { isPurpose, type Purpose, usageOf } from '../../core/decision/index.ts';
import { originOf } from '../../core/url/index.ts';
import { type AddUsage, deciderByFile } from '../answers/decide.ts';
import { annotateAll, explainFile, type UrlExplanation } from '../answers/explanation.ts';
import { verdictKinds, verdictName } from '../answers/verdict.ts';
import { MAX_BODY_BYTES, readBody } from './body.ts';
import { agentOf } from './check.ts';
import type { Exchange } from './exchange.ts';
import { explainSite, limitExplanations } from './explain.ts';
import { decidePasted, readPasted } from './pasted.ts';
import { readAgents } from './query.ts';
import { type Handler, invalid, type Problem, problemOf, type Reply } from './reply.ts';
import { diagnosticsOf } from './verdicts.ts';
import { DEFAULT_AGENTS, DEFAULT_COMPARED, documentOf, type Fields, type Page } from './page/document.ts';
import { markup } from './page/markup.ts';
import { agentTable, detailsOf, matrixOf, type Result, summaryOf } from './page/result.ts';

type Answer = Pick<Page, 'title' | 'result' | 'json'>;

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
  return pageReply({ ...page, note: 'This question came from a link. Press the button to ask it.' });
};

/** `GET /try`: the form for a file. */
export const tryPage: Handler = () => pageReply({ form: 'try', fields: { agents: DEFAULT_AGENTS } });

/** `POST /try`: the verdicts by the file in the form. Uses no network. */
export const tryFile: Handler = async (exchange) => {
  const form = await readForm(exchange).catch((error: unknown) =>
    faultReply({ form: 'try', fields: {} }, error, 'robots'),
  );
  if (!(form instanceof FormData)) return form;
  const text = (name: string): string => String(form.get(name) ?? '').replaceAll('\r\n', '\n');
  const file = form.get('file');
  const fields: Fields = {
    robots: file instanceof Blob && file.size > 0 ? await file.text() : text('robots'),
    urls: text('urls'),
    agents: text('agents'),
    purpose: text('purpose'),
  };
  return answerOrFault({ form: 'try', fields }, () => answerPasted(fields, text('show'), exchange));
};

/**
 * Whether the visitor typed the address, or came from the page itself. Otherwise a link on another site could make this machine
 * send requests to any origin. Over plain HTTP, browsers send `Sec-Fetch-Site` to this machine only.
 */
function isVisitors({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'none' || site === 'same-origin';
}

async function answerSite(fields: Fields, exchange: Exchange): Promise<Answer> {
  const { service, signal } = exchange;
  const { url = '', agent = '', compare = '' } = fields;
  const { host } = new URL(inField('url', () => originOf(url)));
  const question = {
    url,
    agent: inField('agent', () => agentOf(namesOf(agent), service)),
    others: inField('compare', () => readAgents(namesOf(compare))),
    purpose: purposeOf(fields),
  };
  limitExplanations(exchange);
  const { explained, decisions } = await explainSite(question, service, signal);
  const { decision } = explained;
  exchange.decision = decision;
  const agents = decisions.map((each) => each.agent);
  const link = (path: string, first: string): string => {
    const query = new URLSearchParams({ url, agent: first });
    for (const other of agents) if (other !== first) query.append('compare', other);
    if (question.purpose !== undefined) query.set('purpose', question.purpose);
    return `${path}?${query}`;
  };
  const result = resultOf(explained);
  const table = agentTable(decisions, question.purpose, (first) => link('/', first));
  return {
    title: titleOf(explained, host),
    result: markup`${summaryOf(result)}${table}${detailsOf(result)}`,
    json: link('/v1/explain', decision.agent),
  };
}

async function answerPasted(fields: Fields, show: string, { service, signal }: Exchange): Promise<Answer> {
  const { robots, urls = '', agents: named = '' } = fields;
  const lines = urls.split('\n').flatMap((line) => line.trim() || []);
  const purpose = purposeOf(fields);
  const names = inField('agents', () => readAgents(namesOf(named)));
  const question = inField('urls', () =>
    readPasted({
      robots,
      urls: lines.length === 0 ? ['/'] : lines,
      ...(names.length === 0 ? {} : { agents: names }),
      ...(purpose === undefined ? {} : { purpose }),
    }),
  );
  const answer = await decidePasted(question, service, signal).catch((error: unknown) => {
    throw new FieldFault('urls', error);
  });
  const { file, body, agents, profile, source, results } = answer;
  const [row, column] = shownOf(
    show,
    results.map(({ verdicts = [] }) => verdicts.length),
  );
  const settings = { agents: [agents[column] ?? '*'], profile, robots: source };
  const addUsage: AddUsage | undefined =
    purpose && ((decision, rules) => ({ ...decision, usage: usageOf(decision, rules, purpose) }));
  const decided = deciderByFile(file, settings, addUsage)({ input: results[row]?.input ?? '/' });
  if ('error' in decided) throw new FieldFault('urls', invalid(decided.error.message));
  const explained = explainFile(decided.decision, file, body);
  const result = resultOf(explained);
  const matrix = results.length * agents.length > 1 && matrixOf(agents, results, [row, column]);
  return {
    title: titleOf(explained, 'pasted robots.txt'),
    result: markup`${matrix}${summaryOf(result)}${detailsOf(result)}`,
  };
}

/** The row and the column of the verdict that is shown: as asked for, or the first. `widths`: how many each row has. */
function shownOf(show: string, widths: readonly number[]): readonly [row: number, column: number] {
  const [row = 0, column = 0] = show.split(' ').map(Number);
  if ((widths[row] ?? 0) > column) return [row, column];
  return [
    Math.max(
      0,
      widths.findIndex((width) => width > 0),
    ),
    0,
  ];
}

function resultOf(explanation: UrlExplanation): Result {
  const { file } = explanation;
  return {
    explanation,
    lines: file === undefined ? [] : annotateAll({ ...explanation, file }),
    diagnostics: file === undefined ? [] : diagnosticsOf(file),
    now: Date.now(),
  };
}

function titleOf({ decision }: UrlExplanation, where: string): string {
  return `${verdictKinds[verdictName(decision)].title}: ${where}`;
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

/** The platform parses forms. The body has a pasted file, or one that was opened, or both. */
async function readForm(exchange: Exchange): Promise<FormData> {
  limitExplanations(exchange);
  const { request } = exchange;
  const body = await readBody(request, 2 * MAX_BODY_BYTES);
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
  return /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(text) ? `https://${text}` : text;
}

function purposeOf({ purpose }: Fields): Purpose | undefined {
  return isPurpose(purpose) ? purpose : undefined;
}
