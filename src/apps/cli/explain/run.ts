import { omitUndefined, jsonLine } from '../../../core/base/index.ts';
import { decideOffline } from '../../answers/decide.ts';
import { explainFile, explainUrl } from '../../answers/explanation.ts';
import { isUndecided, isUnwanted } from '../../answers/verdict.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { policyRecord } from '../../answers/text/json.ts';
import { writeWhole } from '../../answers/text/output.ts';
import { readOrigin } from '../../answers/input/load-robots.ts';
import type { ExplainedByFile, ExplainedUrl } from '../../answers/schema/explanation.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { openClient } from '../frame/open-client.ts';
import {
  agentOf,
  layoutOf,
  onlyOperand,
  readFormat,
  type OnlineSettings,
  onlineSettings,
} from '../frame/settings.ts';
import { type PageExplanation, renderExplanation } from './render.ts';

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
  const explanation =
    file === undefined
      ? await askAndExplain(url, settings, session, given.switches.has('page'))
      : await readAndExplain(url, settings, session, file);
  await writeWhole(
    session.stdout,
    readFormat(given) === 'json'
      ? explanationJson(url, explanation)
      : renderExplanation(explanation, {
          ...layoutOf(given, session),
          verbose: given.switches.has('verbose'),
          all: given.switches.has('all'),
        }),
  );
  // A page whose redirect is refused may not be fetched, even if robots.txt allows its own URL.
  const decisive = explanation.redirected ?? explanation.decision;
  if (isUndecided(decisive)) return exitCode.undecided;
  return decisive.allowed && !isUnwanted(decisive) ? exitCode.success : exitCode.negative;
}

async function askAndExplain(
  url: string,
  settings: OnlineSettings,
  session: Session,
  readsPage: boolean,
): Promise<PageExplanation> {
  const { purpose } = settings;
  const { signal } = session;
  await using opened = await openClient(settings, session);
  const { client } = opened;
  const explanation = await explainUrl(client, url, { agent: agentOf(settings), purpose, signal });
  const { decision } = explanation;
  if (!readsPage) return explanation;
  const { askPage } = await import('./page.ts');
  const { asked, usage } = await askPage(decision, opened, purpose, signal);
  return { ...explanation, ...asked, decision: { ...decision, ...omitUndefined({ usage }) } };
}

async function readAndExplain(
  url: string,
  settings: OnlineSettings,
  session: Session,
  file: string,
): Promise<PageExplanation> {
  const { body, rules, decide } = await decideOffline(file, settings, session);
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
