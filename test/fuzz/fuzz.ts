import { isDeepStrictEqual } from 'node:util';
import { type Outcome, nextRecord, profiles, stateOf } from '../../src/core/lifecycle/index.ts';
import {
  DEFAULT_DEADLINE_MS,
  DEFAULT_MAX_BODY_BYTES,
  LightAbortController,
} from '../../src/core/base/index.ts';
import { decode } from '../../src/core/fetch/decode.ts';
import { fetchRobots } from '../../src/core/fetch/index.ts';
import type { Transport, TransportResponse } from '../../src/core/fetch/transport.ts';
import { RobotsClient } from '../../src/index.ts';
import { lint, pageDirectives, parseRobots, type RobotsFile } from '../../src/core/rules/index.ts';
import { Chance } from '../support/random.ts';
import { anyAgent, anyAnswer, anyPageLine, anyTarget, type Corpus, type FuzzAnswer } from './generate.ts';
import { verdictOn } from './oracle.ts';

export interface FuzzReport {
  readonly inputs: number;
  /** By what the attempt came to. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly slowestMs: number;
}

export interface FuzzOptions {
  readonly seed: number;
  readonly goesOn: (inputs: number) => boolean;
  readonly corpus?: Corpus;
}

/** The most processor time of an input. Linear work takes some milliseconds, also on a slow machine. */
const MAX_MS = 10_000;
const ORIGIN = 'https://fuzz.example';
const NOW = Date.UTC(2026, 0, 15, 12);

/** Throws at the first input that breaks a promise; each has a seed of its own, so that it can be met again. */
export async function fuzz({ seed, goesOn, corpus = [] }: FuzzOptions): Promise<FuzzReport> {
  const report = { inputs: 0, kinds: {} as Record<string, number>, slowestMs: 0 };
  while (goesOn(report.inputs)) {
    const inputSeed = (seed + report.inputs) >>> 0;
    const before = process.cpuUsage();
    try {
      const kind = await fuzzOne(inputSeed, corpus);
      report.kinds[kind] = (report.kinds[kind] ?? 0) + 1;
    } catch (cause) {
      throw new Error(`Input of seed ${inputSeed}`, { cause });
    }
    const { user, system } = process.cpuUsage(before);
    const took = (user + system) / 1_000;
    if (took > MAX_MS)
      throw new Error(`Input of seed ${inputSeed} took ${took.toFixed(0)} ms of processor time`);
    report.slowestMs = Math.max(report.slowestMs, took);
    report.inputs++;
  }
  return report;
}

async function fuzzOne(seed: number, corpus: Corpus): Promise<string> {
  const chance = new Chance(seed);
  const answers = Array.from({ length: 8 }, () => anyAnswer(chance, corpus));
  const { outcome, requests } = await attempt(answers);
  claim('the same outcome twice', isDeepStrictEqual((await attempt(answers)).outcome, outcome));
  judgeOutcome(outcome, requests, answers);
  judgeStates(outcome);
  if (outcome.kind === 'success') judgeRules(outcome.body, chance);
  judgePage(chance);
  await judgeClient(outcome, chance);
  return outcome.kind;
}

/** One attempt over a transport that serves the answers in order. */
async function attempt(answers: readonly FuzzAnswer[]): Promise<{ outcome: Outcome; requests: number }> {
  let requests = 0;
  const transport: Transport = {
    acceptEncoding: 'gzip, deflate, br',
    request: async (): Promise<TransportResponse> => {
      const { status, fields, chunks, breaks } = answers[requests++]!;
      return {
        status,
        headers: { get: (name) => fields.get(name) },
        body: bodyOf(chunks, breaks),
        decode,
        discard() {},
      };
    },
  };
  const profile = profiles.rfc9309;
  const clock = { now: () => NOW };
  const outcome = await fetchRobots({
    origin: ORIGIN,
    userAgent: 'ExampleBot',
    profile,
    transport,
    clock,
    deadlineMs: DEFAULT_DEADLINE_MS,
    maxBodyBytes: DEFAULT_MAX_BODY_BYTES,
    addressPolicy: 'no-public-to-private',
    isRedirectDisallowed: () => false,
    signal: new LightAbortController(),
    client: {},
  });
  return { outcome, requests };
}

async function* bodyOf(chunks: readonly Uint8Array[], breaks: boolean): AsyncGenerator<Uint8Array> {
  yield* chunks;
  if (breaks) throw Object.assign(new Error('reset'), { code: 'ECONNRESET' });
}

function judgeOutcome(outcome: Outcome, requests: number, answers: readonly FuzzAnswer[]): void {
  const last = answers[requests - 1]!;
  claim('as many hops as redirects', outcome.hops <= 5 && requests <= 6);
  const isRedirect = [301, 302, 303, 307, 308].includes(last.status);
  if (isRedirect) {
    const endless = outcome.kind === 'unavailable' && outcome.reason !== undefined;
    claim('a redirect that is not followed', endless || outcome.kind === 'unreachable');
    return;
  }
  // A hop that the address policy refuses was never requested.
  if (outcome.kind === 'unreachable' && outcome.error === 'ERR_ROBOTS_ADDRESS_REFUSED') return;
  const verdict = verdictOn(last);
  if (verdict.kind === 'unreachable-or-cut') {
    claim(
      'no more than a cut file',
      outcome.kind === 'unreachable' || (outcome.kind === 'success' && outcome.truncated),
    );
    return;
  }
  claim(`${verdict.kind}, not ${outcome.kind}`, outcome.kind === verdict.kind);
  if (verdict.kind !== 'success' || outcome.kind !== 'success') return;
  claim(
    'the body',
    Buffer.from(verdict.body).equals(outcome.body) && verdict.truncated === outcome.truncated,
  );
}

/** What follows under every profile, for as long as the failure is young. */
function judgeStates(outcome: Outcome): void {
  for (const profile of Object.values(profiles)) {
    const record = nextRecord({
      previous: undefined,
      origin: ORIGIN,
      outcome,
      profile,
      now: NOW,
      random: 0.5,
    });
    const { state } = stateOf(record, profile, NOW);
    const opens = outcome.kind === 'unavailable' || outcome.kind === 'success';
    claim('closed', opens || state === 'disallow-all');
    claim('plain data', isDeepStrictEqual(structuredClone(record), record));
    const { answer, failure } = record;
    if (answer !== undefined) {
      const lives = answer.staleAt - answer.fetchedAt;
      claim('a bounded lifetime', lives > 0 && lives <= profile.lifetime.maxMs);
    }
    if (failure !== undefined) {
      const pauses = failure.retryAt - failure.at;
      claim('a bounded pause', pauses > 0 && pauses <= 86_400_000);
    }
  }
}

const DIALECTS = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'] as const;

function judgeRules(body: Uint8Array, chance: Chance): void {
  const questions = Array.from({ length: 6 }, () => [anyTarget(chance), anyAgent(chance)] as const);
  for (const dialect of DIALECTS) {
    const file = parseRobots(body, { dialect });
    const answers = questions.map(([target, agent]) => file.check(target, agent));
    const same = (what: string, other: RobotsFile, of: typeof questions = questions): void =>
      claim(
        `${dialect}: ${what}`,
        isDeepStrictEqual(
          of.map(([target, agent]) => other.check(target, agent).allowed),
          answers.map((each) => each.allowed),
        ),
      );
    same('the same file twice', parseRobots(Uint8Array.from(body), { dialect }));
    judgeVerdicts(file, answers, dialect);
    // A comment at the end is not a rule.
    same(
      'a comment at the end',
      parseRobots(Buffer.concat([body, Buffer.from('\n# Allow: /\n')]), { dialect }),
    );
    if (dialect !== 'google') claim('robots.txt itself', file.check('/robots.txt', 'ExampleBot').allowed);
    if (dialect !== 'rfc9309') continue;
    const shouted = questions.map(([target, agent]) => [target, agent.toUpperCase()] as const);
    same('agents in capitals', file, shouted);
    if (startsWithMark(body)) continue;
    same('a byte order mark', parseRobots(Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), body]), { dialect }));
    same('CRLF', parseRobots(withCrLf(body), { dialect }));
  }
}

function judgeVerdicts(
  file: RobotsFile,
  answers: readonly ReturnType<RobotsFile['check']>[],
  dialect: string,
): void {
  for (const verdict of answers) {
    if (verdict.reason !== 'rule') {
      claim(`${dialect}: no rule, no refusal`, verdict.allowed);
      continue;
    }
    const { directive, line } = verdict.rule;
    claim(`${dialect}: as the rule says`, verdict.allowed === (directive === 'allow'));
    claim(
      `${dialect}: a line of the file`,
      Number.isInteger(line) && line >= 1 && line <= file.bytes.length + 1,
    );
  }
  const delay = file.crawlDelay('ExampleBot');
  claim(`${dialect}: a crawl delay`, delay === undefined || (Number.isFinite(delay) && delay >= 0));
  claim(`${dialect}: a description`, file.groups.length + file.sitemaps.length + lint(file).length >= 0);
}

function startsWithMark([first, second]: Uint8Array): boolean {
  return first === 0xef || (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
}

function withCrLf(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('latin1');
  return Buffer.from(text.replaceAll(/(?<!\r)\n/g, '\r\n'), 'latin1');
}

const YES_OR_NO = [
  ...(['index', 'follow', 'archive', 'snippet'] as const),
  ...(['imageIndex', 'translate', 'ai', 'imageAi'] as const),
];

/** A page may say anything: it is read the same twice, in bounds, and one more line never takes a restriction back. */
function judgePage(chance: Chance): void {
  const lines = Array.from({ length: 1 + chance.below(6) }, () => anyPageLine(chance));
  const headers = lines.map((line) => ['X-Robots-Tag', line] as const);
  const meta = lines.map((content) => ({ name: 'robots', content }));
  const found = pageDirectives({ headers, meta, agent: 'ExampleBot' });
  claim(
    'the same page twice',
    isDeepStrictEqual(found, pageDirectives({ headers, meta, agent: 'examplebot/1' })),
  );
  claim('bounded sources', found.sources.length <= 100);
  const less = pageDirectives({ headers: headers.slice(1), agent: 'ExampleBot' });
  for (const name of YES_OR_NO) {
    claim(`${name}: no restriction taken back`, less[name] || !found[name]);
  }
  for (const name of ['maxSnippet', 'maxVideoPreview', 'unavailableAfter'] as const) {
    claim(`${name}: no limit raised`, (found[name] ?? Infinity) <= (less[name] ?? Infinity));
  }
}

/** A client that is given the same file says what the file says. */
async function judgeClient(outcome: Outcome, chance: Chance): Promise<void> {
  const opens = outcome.kind === 'success';
  // Over a fetch a file that begins as a chunk is not taken.
  if (opens && /^[\da-f]{1,8}(?:;|\r)/i.test(Buffer.from(outcome.body).toString('latin1'))) return;
  const client = new RobotsClient({
    agent: 'ExampleBot',
    clock: { now: () => NOW },
    transport: {
      fetch: async () => new Response(opens ? outcome.body : null, { status: opens ? 200 : 503 }),
    },
  });
  for (let question = 0; question < 3; question++) {
    const url = new URL(ORIGIN + anyTarget(chance)).href;
    const decision = await client.check(url);
    const isSelf = decision.reason === 'robots-txt';
    const expected = opens
      ? parseRobots(outcome.body, { dialect: 'rfc9309' }).check(url, 'ExampleBot').allowed
      : isSelf;
    claim('what the file says', decision.allowed === expected);
    claim(
      'the same without a promise',
      client.peek(url)?.allowed === expected && (await client.canFetch(url)) === expected,
    );
  }
  await client.close();
}

function claim(what: string, holds: boolean): void {
  if (!holds) throw new Error(`Expected ${what}`);
}
