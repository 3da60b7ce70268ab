import { Readable } from 'node:stream';
import { z } from 'zod';
import { jsonLine, TimeSlice } from '../../core/base/index.ts';
import { type Purpose, PURPOSES } from '../../core/decision/index.ts';
import { type ProfileName, profileNames, profiles } from '../../core/lifecycle/index.ts';
import { parseRobots, type RobotsFile } from '../../core/rules/index.ts';
import { MAX_URL_BYTES } from '../../core/url/index.ts';
import { fileSource, notATarget, tokensOf } from '../answers/decide.ts';
import { readRobots } from '../answers/input/load-robots.ts';
import type { InputError } from '../answers/input/targets.ts';
import type { VerdictRecord } from '../answers/schema/decision.ts';
import type { PastedResult } from '../answers/schema/explanation.ts';
import type { FileSource } from '../answers/verdict.ts';
import { MAX_BODY_BYTES, readJson } from './body.ts';
import { limitExplanations } from './explain.ts';
import type { Service } from './exchange.ts';
import { MAX_AGENTS, onlyKnown, readAgents, readAs } from './query.ts';
import { type Handler, invalid, JSON_TYPE, Problem } from './reply.ts';
import { fileParts, verdictBy } from './verdicts.ts';

/** Maximum number of verdicts per request, because each matches all rules of the file. */
const MAX_VERDICTS = 1_000;
/** Maximum length of all verdicts in a response. A verdict can be some hundred times as long as its question. */
const MAX_VERDICT_CHARACTERS = 33_554_432;

const strings: z.ZodArray<z.ZodString> = z.array(z.string().min(1).max(MAX_URL_BYTES)).min(1);

interface PastedQuestion {
  readonly robots: string;
  readonly urls: readonly string[];
  readonly agents?: readonly string[] | undefined;
  readonly profile?: ProfileName | undefined;
  readonly purpose?: Purpose | undefined;
}

/** The body of `POST /v1/explain`. */
export const pastedFile: z.ZodType<PastedQuestion> = z.strictObject({
  robots: z.string().describe('The text of a robots.txt'),
  urls: strings.max(MAX_VERDICTS).describe('URLs, or paths that start with "/"'),
  agents: strings.max(MAX_AGENTS).optional(),
  profile: z.enum(profileNames).optional(),
  purpose: z.enum(PURPOSES).optional(),
});

/** @throws Problem for a question of another form. */
export function readPasted(given: unknown): PastedQuestion {
  return readAs(pastedFile, given);
}

/** A pasted file, and the verdicts by its rules. */
interface PastedAnswer {
  readonly file: RobotsFile;
  readonly body: Uint8Array;
  readonly profile: ProfileName;
  readonly agents: readonly string[];
  readonly source: FileSource;
  readonly results: PastedResult['results'];
}

/** @throws Problem for too many verdicts, or too long ones. */
export async function decidePasted(
  { robots, urls, agents: named, profile, purpose }: PastedQuestion,
  service: Pick<Service, 'profile' | 'agents'>,
  signal: AbortSignal,
): Promise<PastedAnswer> {
  const agents = tokensOf(readAgents(named ?? service.agents));
  if (urls.length * agents.length > MAX_VERDICTS) {
    throw invalid(
      `Expected at most ${MAX_VERDICTS} verdicts, got ${urls.length} URLs for ${agents.length} agents`,
    );
  }
  const chosen = profile ?? service.profile;
  const { body, truncated } = await readRobots('-', Readable.from([Buffer.from(robots)]), 'robots');
  const file = parseRobots(body, { dialect: profiles[chosen].dialect });
  const source = fileSource('pasted robots.txt', body, truncated);
  return {
    file,
    body,
    profile: chosen,
    agents,
    source,
    results: await verdictsFor(file, { urls, agents, purpose }, signal),
  };
}

/** `POST /v1/explain`: checks URLs against the robots.txt in the body. Uses no network. */
export const explainPasted: Handler = async (exchange) => {
  limitExplanations(exchange);
  const { request, query, service, signal } = exchange;
  onlyKnown(query, []);
  const given = readPasted(await readJson(request, MAX_BODY_BYTES));
  const { file, profile, source, results } = await decidePasted(given, service, signal);
  const { truncated = false, suspect } = source;
  const body = jsonLine<PastedResult>({
    profile,
    dialect: file.dialect,
    truncated,
    suspect,
    results,
    ...fileParts(file, firstVerdicts(results)),
  });
  return { type: JSON_TYPE, body };
};

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
