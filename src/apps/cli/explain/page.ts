import { causesOf, omitUndefined, printable, someOf } from '../../../core/base/index.ts';
import type { Decision, DecisionUsage, Purpose, RefusedRequestError } from '../../../core/decision/index.ts';
import { type Gatekeeper, gatekeeperIn, REFUSAL_STATUSES } from '../../../core/lifecycle/index.ts';
import { refusalIn } from '../../../core/client/refusal-errors.ts';
import type { Field } from '../../answers/text/layout.ts';
import { statementText } from '../../answers/text/sentences.ts';
import { type PageDirectives, pageDirectives, type Usage } from '../../../core/rules/index.ts';
import { makePageFetch, type OpenedClient } from '../frame/open-client.ts';

/** Time limit for the page and its redirects, including their robots.txt files and waits for pacing. */
const DEADLINE_MS = 30_000;

/** What the header fields of a page state about its use, or why they were not read. */
type PageFetchResult =
  | {
      /** After redirects. */
      readonly url: string;
      readonly status: number;
      /** The service that answered in place of the site, such as `cloudflare`. */
      readonly gatekeeper: Gatekeeper | undefined;
      readonly directives: PageDirectives;
      /** By robots.txt of the page's origin and by its header fields. */
      readonly usage: Usage;
    }
  | { readonly error: PageFailure };
interface PageFailure extends Partial<Pick<RefusedRequestError, 'requested' | 'redirects' | 'decision'>> {
  readonly code?: string;
  readonly message: string;
}

/** What a page states about its use. */
export interface AskedPage {
  readonly page: PageFetchResult;
  /** The same as text. */
  readonly pageFields: readonly Field[];
  /** The decision about a redirect of the page, if that was refused: then the page may not be fetched. */
  readonly redirected: Decision | undefined;
  /** What the site does with the page although its robots.txt allows it. */
  readonly turnedAway: string | undefined;
}

/** Fetches the page of a decision, if that allows it, and reads its header fields. `usage`: these and robots.txt together. */
export async function askPage(
  decision: Decision,
  opened: OpenedClient,
  purpose: Purpose | undefined,
  signal: AbortSignal,
): Promise<{ readonly asked: AskedPage; readonly usage?: DecisionUsage }> {
  const { page, usage } = decision.allowed
    ? await fetchPage(decision, opened, purpose, signal)
    : { page: { error: { message: 'it may not be fetched, so it was not requested' } }, usage: undefined };
  const refused = 'error' in page ? page.error.decision : undefined;
  const redirected = refused?.allowed === false ? refused : undefined;
  return {
    asked: { page, pageFields: pageFields(page), redirected, turnedAway: turnedAway(page) },
    ...omitUndefined({ usage }),
  };
}

/** By GET. The body is cancelled unread. */
async function fetchPage(
  { url, agent }: Decision,
  opened: OpenedClient,
  purpose: Purpose | undefined,
  signal: AbortSignal,
): Promise<{ readonly page: PageFetchResult; readonly usage?: DecisionUsage }> {
  const { client } = opened;
  try {
    const fetch = await makePageFetch(opened, 'any');
    const page = await fetch(url, {
      headers: { accept: '*/*' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(DEADLINE_MS)]),
    });
    page.body?.cancel().catch(() => undefined);
    const { headers, status } = page;
    const decision = await client.check(page.url, agent, { signal });
    // The statements are the same for every purpose.
    const usage = await client.usageOf(decision, purpose ?? 'train-ai', headers);
    const { purpose: _, preference: __, source: ___, ...stated } = usage;
    const directives = pageDirectives({ headers, agent });
    return {
      page: {
        url: page.url,
        status,
        gatekeeper: gatekeeperIn({ status, headers }),
        directives,
        usage: stated,
      },
      ...(purpose === undefined ? {} : { usage }),
    };
  } catch (error) {
    signal.throwIfAborted();
    const refusal = refusalIn(error);
    if (refusal?.decision === undefined) return { page: { error: failureOf(error) } };
    const { code, message, requested, redirects, decision } = refusal;
    return { page: { error: { code, message, requested, redirects, decision } } };
  }
}

const GATEKEEPERS: Readonly<Record<Gatekeeper, string>> = {
  cloudflare: 'Cloudflare',
  vercel: 'Vercel',
  'aws-waf': 'AWS WAF',
  datadome: 'DataDome',
  akamai: 'Akamai',
};

/** A status that refuses, or a gatekeeper's response, which has any. */
function turnedAway(page: PageFetchResult): string | undefined {
  if ('error' in page) return undefined;
  const { status, gatekeeper } = page;
  if (gatekeeper !== undefined) return `${GATEKEEPERS[gatekeeper]} turns it away (${status})`;
  return REFUSAL_STATUSES.includes(status) ? `the site turns it away (${status})` : undefined;
}

/** The innermost cause, which names the failure of the network. That of a bad Location says only "Invalid URL". */
function failureOf(error: unknown): PageFailure {
  const causes = [...causesOf(error)].reverse();
  const cause = causes.find((each) => Reflect.get(each, 'code') !== 'ERR_INVALID_URL');
  const code: unknown = Reflect.get(Object(cause), 'code');
  const message = cause instanceof Error ? cause.message : String(error);
  return { ...(typeof code === 'string' ? { code } : {}), message };
}

/** Renders the page as text. */
function pageFields(page: PageFetchResult): Field[] {
  if ('error' in page) return [['page', `not read: ${printable(page.error.message)}`]];
  const { url, status, directives, usage } = page;
  const written = directives.sources.map(({ agent, field, directive, value }) =>
    // Of `tdm-reservation`, the field is the directive.
    printable([...new Set([field, agent, directive, value].flatMap((part) => part ?? []))].join(': '), 100),
  );
  const stated = usage.sources.filter(({ line, directive }) => line === undefined && directive !== 'link');
  return [
    ['page', `${printable(url)}  ${status}`],
    [
      'says',
      someOf(written, MAX_LISTED) || (stated.length === 0 ? 'nothing in its header fields' : undefined),
    ],
    ...stated.slice(0, MAX_LISTED).map((source): Field => ['states', statementText(source)]),
  ];
}

const MAX_LISTED = 10;
