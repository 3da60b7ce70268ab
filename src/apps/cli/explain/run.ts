import { profiles } from '../../../core/lifecycle/index.ts';
import { parseRobots } from '../../../core/rules/index.ts';
import {
  deciderByFile,
  fileSource,
  explainFile,
  explainUrl,
  isUndecided,
  type Session,
  truncationWarning,
  type UrlExplanation,
  UsageError,
} from '../../answers/index.ts';
import { jsonLine, policyRecord, writeWhole } from '../../answers/text/index.ts';
import type { ExplainedByFile, ExplainedUrl, PageAnswer } from '../../answers/schema.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { interruptible } from '../frame/interruptible.ts';
import { openClient } from '../frame/open-client.ts';
import { readOrigin, readRobots } from '../../answers/input/index.ts';
import {
  agentOf,
  layoutOf,
  onlyOperand,
  readFormat,
  type OnlineSettings,
  onlineSettings,
} from '../frame/settings.ts';
import { renderExplanation } from './render.ts';

/** Decides one URL, and prints the decision with everything that it depends on. */
export async function explain(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const url = onlyOperand(given, 'a URL');
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  if (file === undefined) readOrigin(url);
  else if (given.switches.has('page')) {
    throw new UsageError(
      'Expected --page without --robots, which asks no site, got both; leave one of them out',
    );
  }
  return interruptible(session, { readsStdin: file === '-' }, async (signal) => {
    const explanation: PageExplanation =
      file === undefined
        ? await askAndExplain(url, settings, given.switches.has('page'), session, signal)
        : await readAndExplain(url, settings, file, session);
    const { page } = explanation;
    const pages = page === undefined ? undefined : await import('./page.ts');
    // A page whose redirect is refused may not be fetched, whatever robots.txt says of its own URL.
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
    return decisive.allowed ? exitCode.success : exitCode.negative;
  });
}

/** An explanation; with `--page` also what the page says of its use. */
type PageExplanation = UrlExplanation & { readonly page?: PageAnswer };

async function askAndExplain(
  url: string,
  settings: OnlineSettings,
  readsPage: boolean,
  session: Session,
  signal: AbortSignal,
): Promise<PageExplanation> {
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const explanation = await explainUrl(client, url, { agent: agentOf(settings), signal });
  const { decision } = explanation;
  if (!readsPage) return explanation;
  if (!decision.allowed) {
    return { ...explanation, page: { error: { message: 'it may not be fetched, so it was not asked for' } } };
  }
  return { ...explanation, page: await (await import('./page.ts')).askPage(decision, opened, signal) };
}

async function readAndExplain(
  url: string,
  { agents, profile }: OnlineSettings,
  file: string,
  { stdin, stderr }: Session,
): Promise<UrlExplanation> {
  const { body, truncated } = await readRobots(file, stdin, '--robots');
  if (truncated) stderr.write(`canfetch: ${truncationWarning(file)}\n`);
  const rules = parseRobots(body, { dialect: profiles[profile].dialect });
  const decide = deciderByFile(rules, { agents, profile, robots: fileSource(file, body, truncated) });
  const answer = decide({ input: url });
  if ('error' in answer) throw new UsageError(answer.error.message);
  return explainFile(answer.decision, rules, body);
}

/** The line of JSON: decision, runner-up rule, policy, and decisions under other profiles. */
function explanationJson(
  input: string,
  { decision, runnerUp, policy, underProfiles, page }: PageExplanation,
): string {
  const parts = { runnerUp, underProfiles };
  if (!('origin' in decision)) return jsonLine<ExplainedByFile>({ input, ...decision, ...parts });
  return jsonLine<ExplainedUrl>({
    input,
    ...decision,
    ...parts,
    policy: policy && policyRecord(policy),
    page,
  });
}
