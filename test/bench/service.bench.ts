import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { RobotsClient } from '../../src/index.ts';
import { bulkUrls, loopbackOrigins } from './bulk-urls.ts';
import type { Load } from './http-load.ts';
import { median, type Row } from './measure.ts';
import { type ServeProcess, startProcess, startServe } from './program.ts';

const ORIGINS = 100;
const GETS = 4_000;
const LINES = 200_000;

/** `canfetch serve` over loopback: against bare `node:http`, and against a loop of `JSON.stringify(peek(url))`. */
export async function* service(rounds: number): AsyncGenerator<Row> {
  const site = await startProcess('loopback-server.js');
  const urls = bulkUrls(loopbackOrigins(ORIGINS, site.port), LINES);
  const serve = await startServe([]);
  yield* await single(urls, serve, rounds);
  yield* await bulk(urls, serve, rounds);
  await serve.stop();
  site.child.disconnect();
}

/** `GET /v1/check` on several connections that are kept. */
async function single(urls: readonly string[], { port }: ServeProcess, rounds: number): Promise<Row[]> {
  const bare = await startProcess('bare-server.js');
  const generator = await startProcess('http-load.js');
  const asked = sample(urls);
  const paths = asked.map(checkPath);
  const { length } = await (await fetch(`http://127.0.0.1:${port}${paths[0]}`)).text();
  const load = loader(generator.child);
  const servers = {
    ours: { port, paths },
    fixed: { port: bare.port, paths: [`/fixed?${length}`] },
    peek: { port: bare.port, paths: asked.map((url) => `/peek?${encodeURIComponent(url)}`) },
  };
  for (const each of Object.values(servers)) await load(each, 2 * GETS);
  const took: Record<keyof typeof servers, number>[] = [];
  for (let round = 0; round < rounds; round++) {
    took.push({
      ours: await load(servers.ours),
      fixed: await load(servers.fixed),
      peek: await load(servers.peek),
    });
  }
  generator.child.disconnect();
  bare.child.disconnect();
  const each = (ms: number): string => `${((ms / GETS) * 1e3).toFixed(0)} µs`;
  const ratio = median(took.map(({ ours, fixed }) => fixed / ours));
  const minimal = median(took.map(({ peek, fixed }) => fixed / peek));
  return [
    {
      what: `\`GET /v1/check\` (a handler with \`peek\`: ${minimal.toFixed(2)} ×)`,
      ours: each(median(took.map(({ ours }) => ours))),
      peer: `${each(median(took.map(({ fixed }) => fixed)))} node:http`,
      ratio: `${ratio.toFixed(2)} × its rate`,
      bar: '≥ 0.5 ×',
      used: 0.5 / ratio,
    },
  ];
}

const sample = (urls: readonly string[]): string[] =>
  urls.filter((_, index) => index % 20 === 7).slice(0, 1_000);
const checkPath = (url: string): string => `/v1/check?url=${encodeURIComponent(url)}`;

/** Lets a process of `http-load.js` ask; resolves with the milliseconds that it took. */
function loader(generator: ChildProcess) {
  return async (more: Pick<Load, 'port' | 'paths'>, requests = GETS): Promise<number> => {
    generator.send({ connections: 16, requests, ...more } satisfies Load);
    const [ms] = (await once(generator, 'message')) as [number];
    return ms;
  };
}

/** `POST /v1/check`: one long stream of questions. */
async function bulk(urls: readonly string[], serve: ServeProcess, rounds: number): Promise<Row[]> {
  const client = new RobotsClient();
  await client.prefetch(urls.slice(0, 20 * ORIGINS));
  const loop = (): number => {
    const started = performance.now();
    for (const url of urls) JSON.stringify(client.peek(url));
    return performance.now() - started;
  };
  await assertAnswers(serve.port, urls.slice(0, 20_000));
  const counted = await decisionsCounted(serve.port);
  const before = serve.peakBytes();
  const took: { ours: number; loop: number }[] = [];
  const times = Math.min(rounds, 5);
  for (let round = 0; round < times; round++) {
    const { ms } = await post(serve.port, urls);
    took.push({ ours: ms, loop: loop() });
  }
  const more = (serve.peakBytes() - before) / 1_048_576;
  const decisions = (await decisionsCounted(serve.port)) - counted;
  if (decisions !== times * LINES) throw new Error(`Expected ${times * LINES} decisions, got ${decisions}`);
  await client.close();
  const ratio = median(took.map((each) => each.ours / each.loop));
  const seconds = (ms: number): string => `${(ms / 1_000).toFixed(2)} s`;
  return [
    {
      what: `\`POST /v1/check\`, ${LINES.toLocaleString('en')} lines`,
      ours: seconds(median(took.map(({ ours }) => ours))),
      peer: `${seconds(median(took.map((each) => each.loop)))} JSON.stringify(peek(url))`,
      ratio: `${ratio.toFixed(1)} × its time`,
      bar: '≤ 3 ×',
      used: ratio / 3,
    },
    {
      what: 'its memory',
      ours: `+ ${more.toFixed(0)} MiB`,
      bar: '≤ + 60 MiB',
      used: more / 60,
    },
  ];
}

/** Sends `urls` as one stream, as fast as they are taken, and reads the answers meanwhile. */
async function post(
  port: number,
  urls: readonly string[],
  onText: (text: string) => void = () => undefined,
): Promise<{ ms: number }> {
  const chunks: string[] = [];
  for (let at = 0; at < urls.length; at += 1_000) chunks.push(`${urls.slice(at, at + 1_000).join('\n')}\n`);
  const started = performance.now();
  const sent = request({ port, host: '127.0.0.1', path: '/v1/check', method: 'POST', agent: false });
  const answered = once(sent, 'response').then(async ([response]) => {
    response.on('data', (chunk: Buffer) => onText(chunk.toString('latin1')));
    await once(response, 'end');
  });
  for (const chunk of chunks) if (!sent.write(chunk)) await once(sent, 'drain');
  sent.end();
  await answered;
  return { ms: performance.now() - started };
}

async function assertAnswers(port: number, urls: readonly string[]): Promise<void> {
  let text = '';
  await post(port, urls, (more) => (text += more));
  const inputs = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).input);
  if (inputs.join('\n') !== urls.join('\n')) throw new Error('Expected the answers in the order of the URLs');
}

async function decisionsCounted(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const counts = [...text.matchAll(/^canfetch_decisions_total\{[^}]*\} (\d+)$/gm)];
  return counts.reduce((sum, [, count]) => sum + Number(count), 0);
}
