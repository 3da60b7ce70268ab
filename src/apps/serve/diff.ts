import { z } from 'zod';
import { quote, TimeSlice, jsonLine } from '../../core/base/index.ts';
import { profileNames, profiles } from '../../core/lifecycle/index.ts';
import { type ComparedFile, FileComparison } from '../answers/comparison/compare.ts';
import { notATarget, tokensOf } from '../answers/decide.ts';
import { absenceOf, loadedFrom, rulesInForce } from '../answers/input/load-robots.ts';
import type { ComparisonResult } from '../answers/schema.ts';
import type { Dialect, RobotsFile } from '../../core/rules/index.ts';
import { readJson, MAX_AGENTS, onlyKnown, readAgents, readAs } from './request.ts';
import type { Exchange } from './exchange.ts';
import { MAX_BODY_BYTES, MAX_VERDICTS, parsePasted, strings } from './explain.ts';
import { type Handler, invalid, JSON_TYPE, Problem } from './reply.ts';

const file = z.union([z.strictObject({ origin: z.string() }), z.string()], {
  error: 'the text of a file, or `{"origin": URL}`',
});

const two = z.strictObject({
  before: file
    .describe(
      'The text of the old file, or `{"origin": "https://example.com"}` for the one that is served there',
    )
    .meta({ examples: [{ origin: 'https://example.com' }] }),
  after: file.describe('The new file, likewise').meta({ examples: ['User-agent: *\nAllow: /\n'] }),
  agents: strings.max(MAX_AGENTS).optional().describe('By default `*` and all agents that the files name'),
  urls: strings
    .max(MAX_VERDICTS)
    .optional()
    .describe('URLs or paths to compare, besides those that are derived from the rules'),
  profile: z.enum(profileNames).optional(),
});

/** The body of `POST /v1/diff`. */
export const twoFiles: z.ZodType = two;

/** `POST /v1/diff`: which rules differ between two files, and which URLs are decided differently. */
export const diff: Handler = async ({ request, query, service, signal }) => {
  onlyKnown(query, []);
  const given = readAs(two, await readJson(request, 2 * MAX_BODY_BYTES));
  const { before, after, agents = [], urls = [], profile = service.profile } = given;
  const { dialect } = profiles[profile];
  const asked = { service, signal, dialect };
  const [old, now] = await Promise.all([sideOf(before, 'before', asked), sideOf(after, 'after', asked)]);
  const tokens = agents.length === 0 ? [] : tokensOf(readAgents(agents));
  const slice = new TimeSlice(signal);
  const comparison = await FileComparison.of(old.file, now.file, tokens, slice);
  for (const url of urls) {
    try {
      comparison.assertTarget(url);
    } catch (error) {
      throw invalid(notATarget(error, url).message);
    }
  }
  await comparison.probeAll(urls, slice);
  return { type: JSON_TYPE, body: jsonLine<ComparisonResult>(comparison.record(old, now)) };
};

interface Side extends ComparedFile {
  readonly file: RobotsFile;
}

async function sideOf(
  given: z.infer<typeof file>,
  name: 'before' | 'after',
  { service, signal, dialect }: Pick<Exchange, 'service' | 'signal'> & { readonly dialect: Dialect },
): Promise<Side> {
  if (typeof given === 'string') return { name, file: (await parsePasted(given, dialect)).file };
  const { origin } = given;
  const loaded = loadedFrom(origin, await service.client.policy(origin, { signal }));
  const inForce = rulesInForce(loaded, dialect);
  if (inForce !== undefined) return { name: origin, ...inForce };
  throw new Problem(
    502,
    'ERR_ROBOTS_UNREACHABLE',
    `Expected \`${name}\` to name a site whose robots.txt can be read, got ${quote(origin)} (${absenceOf(loaded) ?? ''}); ask again later`,
  );
}
