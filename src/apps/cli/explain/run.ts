import { omitUndefined, jsonLine } from '../../../core/base/index.ts';
import type { Purpose } from '../../../core/decision/index.ts';
import { decideOffline } from '../../answers/decide.ts';
import { explainFile, explainUrl, type UrlExplanation } from '../../answers/explanation.ts';
import { isUndecided, isUnwanted } from '../../answers/input/targets.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { policyRecord } from '../../answers/text/json.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import type { ExplainedByFile, ExplainedUrl, PageFetchResult } from '../../answers/schema.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import {
  agentOf,
  layoutOf,
  onlyOperand,
  readFormat,
  readPurpose,
  type OnlineSettings,
  onlineSettings,
} from '../frame/settings.ts';
import { renderExplanation } from './render.ts';

/** Decides one URL, and prints the decision with everything that it depends on. */
export async function explain(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const url = onlyOperand(given, 'a URL');
  const settings = onlineSettings(given);
  const purpose = readPurpose(given);
  const file = given.values.get('robots')?.[0];
  if (file === undefined) readOrigin(url);
  else if (given.switches.has('page')) {
    throw new UsageError(
      'Expected --page without --robots, which asks no site, got both; leave one of them out',
    );
  }
  const { signal } = session;
  const explanation: PageExplanation =
    file === undefined
      ? await askAndExplain(url, settings, { purpose, page: given.switches.has('page'), session, signal })
      : await readAndExplain(url, settings, { purpose, file, session });
  const { page } = explanation;
  const pages = page === undefined ? undefined : await import('./page.ts');
  // A page whose redirect is refused may not be fetched, even if robots.txt allows its own URL.
  const redirected = page === undefined ? undefined : pages?.refusedRedirect(page);
  await writeWhole(
    session.stdout,
    readFormat(given) === 'json'
      ? explanationJson(url, explanation)
      : renderExplanation(explanation, {
          ...layoutOf(given, session),
          verbose: given.switches.has('verbose'),
          all: given.switches.has('all'),
          page: page === undefined ? [] : (pages?.pageFields(page) ?? []),
          redirected,
        }),
  );
  const decisive = redirected ?? explanation.decision;
  if (isUndecided(decisive)) return exitCode.undecided;
  return decisive.allowed && !isUnwanted(decisive) ? exitCode.success : exitCode.negative;
}

/** An explanation; with `--page` also what the page states about its use. */
type PageExplanation = UrlExplanation & { readonly page?: PageFetchResult };

async function askAndExplain(
  url: string,
  settings: OnlineSettings,
  {
    purpose,
    page: readsPage,
    session,
    signal,
  }: {
    readonly purpose: Purpose | undefined;
    readonly page: boolean;
    readonly session: Session;
    readonly signal: AbortSignal;
  },
): Promise<PageExplanation> {
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const explained = await explainUrl(client, url, { agent: agentOf(settings), signal });
  const { decision } = explained;
  const explanation =
    purpose === undefined
      ? explained
      : { ...explained, decision: { ...decision, usage: client.usageOf(decision, purpose) } };
  if (!readsPage) return explanation;
  if (!decision.allowed) {
    return { ...explanation, page: { error: { message: 'it may not be fetched, so it was not requested' } } };
  }
  const { askPage } = await import('./page.ts');
  const { page, usage } = await askPage(decision, { opened, purpose, signal });
  // Header fields of the page and robots.txt together.
  return { ...explanation, page, decision: { ...explanation.decision, ...omitUndefined({ usage }) } };
}

async function readAndExplain(
  url: string,
  { agents, profile }: OnlineSettings,
  {
    purpose,
    file,
    session,
  }: { readonly purpose: Purpose | undefined; readonly file: string; readonly session: Session },
): Promise<UrlExplanation> {
  const { body, rules, decide } = await decideOffline({ agents, profile, file, session, purpose });
  const result = decide({ input: url });
  if ('error' in result) throw new UsageError(result.error.message);
  return explainFile(result.decision, rules, body);
}

/** The line of JSON: decision, runner-up rule, policy, and decisions under other profiles. */
function explanationJson(
  input: string,
  { decision, runnerUp, star, runsOn, nearMiss, policy, underProfiles, page }: PageExplanation,
): string {
  const parts = { runnerUp, star, runsOn, nearMiss, underProfiles };
  if (!('origin' in decision)) return jsonLine<ExplainedByFile>({ input, ...decision, ...parts });
  return jsonLine<ExplainedUrl>({
    input,
    ...decision,
    ...parts,
    policy: policy && policyRecord(policy),
    page,
  });
}
