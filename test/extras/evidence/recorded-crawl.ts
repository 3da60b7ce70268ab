/** Crawls a site through guards, and writes evidence and what its caller saw: see test/apps/cli/evidence-oracle.test.ts. */
import axios from 'axios';
import got from 'got';
import { Agent, request as undiciRequest } from 'undici';
import { RobotsClient } from '../../../src/core/client/index.ts';
import { evidenceFile } from '../../../src/extras/evidence/index.ts';
import { guardAxios } from '../../../src/guards/axios/axios.ts';
import { guardFetch } from '../../../src/guards/fetch/fetch.ts';
import { gotHooks } from '../../../src/guards/got/got.ts';
import type { GuardOptions } from '../../../src/guards/shared/options.ts';
import { refusalIn } from '../../../src/core/client/refusal-errors.ts';
import { robotsInterceptor } from '../../../src/guards/undici/undici.ts';

/** What the caller of one request saw: a status, or the code of a refusal or an error. */
export interface SeenRequest {
  readonly url: string;
  readonly outcome: string;
}

const [path = '', open = '', slow = '', broken = '', polite = '', agent = 'ExampleBot'] =
  process.argv.slice(2);
const evidence = await evidenceFile(path);
const robots = new RobotsClient({ agent, evidence });
const seen: SeenRequest[] = [];
const dispatcher = new Agent();

/** Does some work that keeps the process busy. */
function busy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

async function visit(url: string, get: (url: string) => Promise<number>): Promise<void> {
  try {
    seen.push({ url, outcome: String(await get(url)) });
  } catch (error) {
    const { code, cause, name } = error as { code?: string; cause?: { code?: string }; name: string };
    seen.push({ url, outcome: refusalIn(error)?.code ?? code ?? cause?.code ?? name });
  }
}

function byFetch(options: GuardOptions<Response>, init?: object): (url: string) => Promise<number> {
  const get = guardFetch(fetch, robots, options);
  return async (url) => {
    const response = await get(url, { headers: { 'x-purpose': options.purpose ?? '' }, ...init });
    await response.text();
    return response.status;
  };
}

const guarded = byFetch({});
const reporting = byFetch({ mode: 'report' });
const training = byFetch({ purpose: 'train-ai' });
const trainingReport = byFetch({ purpose: 'train-ai', mode: 'report' });
const because = byFetch({}, { robots: { ignore: true, because: 'ours' } });
const paced = byFetch({ pacing: { defaultDelayMs: 0, concurrency: 10 } });
const waiting = byFetch({ pacing: true });
// The first page comes after the whole gap, too: the processes share no store.
const impatient = byFetch({ pacing: { defaultDelayMs: 60_000, maxDelayMs: 0 } });
const composed = dispatcher.compose(robotsInterceptor(robots, {}));
const byUndici = async (url: string): Promise<number> => {
  const { statusCode, body } = await undiciRequest(url, { dispatcher: composed });
  await body.text();
  return statusCode;
};
const gotten = got.extend({ retry: { limit: 0 }, throwHttpErrors: false, ...gotHooks(robots, {}) });
const byGot = async (url: string): Promise<number> => (await gotten(url)).statusCode;
const axiosInstance = guardAxios(axios.create({ validateStatus: () => true }), robots, {});
const byAxios = async (url: string): Promise<number> => (await axiosInstance.get(url)).status;
const readingStream = async (url: string): Promise<number> => {
  const { status, data } = await axiosInstance.get(url, { responseType: 'stream' });
  for await (const chunk of data) void chunk;
  return status;
};

// Several at once, at sites that nothing is known of.
await Promise.all([
  ...['/1', '/private/1', '/2', '/1', '/missing', '/old'].map((at) => visit(open + at, guarded)),
  ...['/cut', '/cut', '/8'].map((at) => visit(open + at, paced)),
  ...Object.entries({ guarded, byUndici, byGot, byAxios, readingStream }).map(([by, get]) =>
    visit(`${open}/cut/${by}`, get),
  ),
  ...['/1', '/2', '/1', '/3'].map((at) => visit(slow + at, impatient)),
  ...['/1', '/private/2'].map((at) => visit(broken + at, guarded)),
]);
busy(100);
await Promise.all([
  ...['/3', '/private/3', '/lost'].flatMap((at) => [visit(open + at, byUndici), visit(open + at, byGot)]),
  ...['/4', '/private/4', '/private/4'].map((at) => visit(open + at, reporting)),
  ...['/art/1', '/5', '/own'].flatMap((at) => [visit(open + at, training), visit(open + at, trainingReport)]),
  ...['/5', '/private/5'].map((at) => visit(open + at, because)),
  visit(`${broken}/6`, reporting),
]);
busy(50);
// Questions beside requests for the same pages.
await robots.check(`${open}/private/7`);
await robots.check(`${open}/7`);
await Promise.all([visit(`${open}/7`, guarded), visit(`${open}/private/7`, because)]);
await robots.check(`${open}/7`, 'OtherBot');
await visit(`${open}/private/7`, guarded);
// At a pace, while the process works.
const pacedPages = ['/1', '/2', '/3', '/4', '/5'].map((at) => visit(polite + at, waiting));
const working = setInterval(() => busy(60), 70);
await Promise.all(pacedPages);
clearInterval(working);
await dispatcher.close();
await robots.close();
await evidence.close();
process.stdout.write(`${JSON.stringify(seen)}\n`);
process.exit();
