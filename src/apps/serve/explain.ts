import { Readable } from 'node:stream';
import { z } from 'zod';
import { omitUndefined, TimeSlice, jsonLine } from '../../core/base/index.ts';
import { type Purpose, PURPOSES } from '../../core/decision/index.ts';
import { profileNames, profiles } from '../../core/lifecycle/index.ts';
import { MAX_URL_BYTES, targetOf } from '../../core/url/index.ts';
import { type Dialect, parseRobots, type RobotsFile } from '../../core/rules/index.ts';
import { explainUrl, linesOf } from '../answers/explanation.ts';
import { fileSource, notATarget, tokensOf } from '../answers/decide.ts';
import type { InputError } from '../answers/input/targets.ts';
import { cause } from '../answers/text/reasons.ts';
import { policyRecord } from '../answers/text/json.ts';
import { lifetimeReason } from '../answers/text/sentences.ts';
import { type ReadRobots, readRobots } from '../answers/input/load-robots.ts';
import { readJson, MAX_AGENTS, onlyKnown, onlyOne, readAgents, readAs, readPurpose } from './request.ts';
import { agentOf } from './check.ts';
import { type Handler, invalid, JSON_TYPE, Problem } from './reply.ts';
import { diagnosticsOf, groupRanges, statedUsage, timeline, verdictBy, verdictOf } from './verdicts.ts';
import type {
  ExplanationResult,
  FileParts,
  PastedResult,
  PolicyResult,
  VerdictRecord,
} from '../answers/schema.ts';

/** `GET /v1/policy?origin=…&agent=…` */
export const policy: Handler = async ({ query, service, signal }) => {
  onlyKnown(query, ['origin', 'agent']);
  const url = onlyOne(query, 'origin', 'https://example.com');
  const agent = agentOf(query, service);
  const known = await service.client.policy(url, {
    signal,
    ...omitUndefined({ agent }),
  });
  const { rules } = known;
  const body = jsonLine<PolicyResult>({
    ...policyRecord(known),
    timeline: timeline(known, profiles[service.profile]),
    diagnostics: rules === undefined ? [] : diagnosticsOf(rules),
    ...statedUsage(rules, targetOf(url), known.agent),
  });
  return { type: JSON_TYPE, body };
};

/** `GET /v1/explain?url=…&agent=…&compare=…&purpose=…` */
export const explainOne: Handler = async ({ query, service, signal }) => {
  onlyKnown(query, ['url', 'agent', 'compare', 'purpose']);
  const url = onlyOne(query, 'url', 'https://example.com/page');
  const agent = agentOf(query, service);
  const others = readAgents(query.getAll('compare'));
  const purpose = readPurpose(query);
  const { client, profile } = service;
  const explained = await explainUrl(client, url, { agent, signal });
  const { decision, policy: known, runnerUp, file, underProfiles } = explained;
  const verdicts = [verdictOf(decision, file, purpose)];
  const slice = new TimeSlice(signal);
  for (const other of others) {
    verdicts.push(verdictOf(await client.check(url, other, { signal }), file, purpose));
    if (slice.isOver) await slice.yield();
  }
  // The random part of a lifetime spreads requests and is no reason: `policy.lifetime.jitterMs` has it.
  const because = known.lifetime && lifetimeReason({ ...known.lifetime, jitterMs: 0 });
  const body = jsonLine<ExplanationResult>({
    input: url,
    now: Date.now(),
    ...decision,
    runnerUp,
    verdicts,
    underProfiles,
    timeline: timeline(known, profiles[profile]),
    lifetimeReason: because,
    cause: known.failure && cause(known.robots),
    policy: policyRecord(known),
    ...(file && { ...fileParts(file, verdicts), sitemaps: known.sitemaps }),
    ...statedUsage(file, url, decision.agent, purpose),
  });
  return { type: JSON_TYPE, body };
};

/** About twice the 500 KiB that are read of a file, because JSON escapes lengthen it. */
const MAX_BODY_BYTES = 1_048_576;
/** Maximum number of verdicts per request, because each matches all rules of the file. */
const MAX_VERDICTS = 1_000;
/** Maximum length of all verdicts in a response. A verdict can be some hundred times as long as its question. */
const MAX_VERDICT_CHARACTERS = 33_554_432;

const strings: z.ZodArray<z.ZodString> = z.array(z.string().min(1).max(MAX_URL_BYTES)).min(1);

const pasted = z.strictObject({
  robots: z.string().describe('The text of a robots.txt'),
  urls: strings.max(MAX_VERDICTS).describe('URLs, or paths that start with "/"'),
  agents: strings.max(MAX_AGENTS).optional(),
  profile: z.enum(profileNames).optional(),
  purpose: z.enum(PURPOSES).optional(),
});

/** The body of `POST /v1/explain`. */
export const pastedFile: z.ZodType = pasted;

/** `POST /v1/explain`: checks URLs against the robots.txt in the body. Uses no network. */
export const explainPasted: Handler = async ({ request, query, service, signal }) => {
  onlyKnown(query, []);
  const given = readAs(pasted, await readJson(request, MAX_BODY_BYTES));
  const { robots, urls, profile = service.profile, purpose } = given;
  const agents = tokensOf(readAgents(given.agents ?? service.agents));
  if (urls.length * agents.length > MAX_VERDICTS) {
    throw invalid(
      `Expected at most ${MAX_VERDICTS} verdicts, got ${urls.length} URLs for ${agents.length} agents`,
    );
  }
  const { file, body, truncated } = await parsePasted(robots, profiles[profile].dialect);
  const { suspect } = fileSource('-', body, truncated);
  const results = await verdictsFor(file, { urls, agents, purpose }, signal);
  const text = jsonLine<PastedResult>({
    profile,
    dialect: file.dialect,
    truncated,
    suspect,
    results,
    ...fileParts(file, firstVerdicts(results)),
  });
  return { type: JSON_TYPE, body: text };
};

/** Parses the text of a file, with the size limit of a fetched one. */
async function parsePasted(
  robots: string,
  dialect: Dialect,
): Promise<ReadRobots & { readonly file: RobotsFile }> {
  const read = await readRobots('-', Readable.from([Buffer.from(robots)]), 'robots');
  return { ...read, file: parseRobots(read.body, { dialect }) };
}

/** The verdicts on the first URL: the group of an agent is the same for every URL. */
function firstVerdicts(results: PastedResult['results']): readonly VerdictRecord[] {
  return results.find(({ verdicts }) => verdicts?.some(({ group }) => group !== undefined))?.verdicts ?? [];
}

interface PastedQuestions {
  readonly urls: readonly string[];
  readonly agents: readonly string[];
  readonly purpose: Purpose | undefined;
}

async function verdictsFor(
  file: RobotsFile,
  { urls, agents, purpose }: PastedQuestions,
  signal: AbortSignal,
): Promise<PastedResult['results']> {
  const verdicts = urls.map((): VerdictRecord[] => []);
  const errors = new Map<string, InputError>();
  let characters = 0;
  const slice = new TimeSlice(signal);
  // Agents in the outer loop, because the file caches the rules of the last agent.
  for (const agent of agents) {
    for (const [index, url] of urls.entries()) {
      if (slice.isOver) await slice.yield();
      try {
        const verdict = verdictBy(file, url, agent, purpose);
        characters += JSON.stringify(verdict).length;
        verdicts[index]?.push(verdict);
      } catch (error) {
        errors.set(url, notATarget(error, url));
      }
      if (characters > MAX_VERDICT_CHARACTERS) {
        throw new Problem(
          413,
          'ERR_ROBOTS_TOO_LARGE',
          `Expected verdicts of at most ${MAX_VERDICT_CHARACTERS} characters, got more; ask about fewer URLs at a time`,
        );
      }
    }
  }
  return urls.map((input, index) => {
    const error = errors.get(input);
    return error === undefined ? { input, verdicts: verdicts[index] ?? [] } : { input, error };
  });
}

/** The parts of a file that a display needs: lines, groups, records and diagnostics. */
function fileParts(file: RobotsFile, verdicts: readonly VerdictRecord[]): FileParts {
  const { groups, sitemaps, otherRecords, bytes } = file;
  return {
    lines: linesOf(bytes),
    groups,
    otherRecords,
    sitemaps,
    diagnostics: diagnosticsOf(file),
    groupRanges: groupRanges(file, verdicts),
  };
}
