import { RobotsClient } from '../../src/index.ts';
import type { BenchFile } from './files.ts';
import { interleave, type Row } from './measure.ts';
import { robotsParser } from './peer.ts';

const AGENT = 'ExampleBot';

/** Warm questions to a client that knows every origin, against the parser alone, which knows the file asked. */
export async function warmQuestions(files: readonly BenchFile[], rounds: number): Promise<Row[]> {
  const bodies = new Map(files.map((file) => [`https://${file.host}/robots.txt`, file.bytes]));
  const client = new RobotsClient({
    agent: `${AGENT}/1.0`,
    cache: { maxOrigins: files.length * 2, maxBytes: 2 ** 30 },
    // The bodies are real; only the network is left out.
    transport: {
      fetch: async (url) => new Response(bodies.get(url) ?? null, { status: bodies.has(url) ? 200 : 404 }),
    },
  });
  await client.prefetch(files.map((file) => `https://${file.host}/`));
  const questions = files.flatMap((file) => {
    const peer = robotsParser(`https://${file.host}/robots.txt`, file.text);
    return file.urls.map((url) => ({ url, peer }));
  });
  const took = interleave(
    {
      peek: () => questions.forEach(({ url }) => void client.peek(url)),
      peer: () => questions.forEach(({ url, peer }) => void peer.isAllowed(url, AGENT)),
    },
    rounds,
  );
  const awaited: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    for (const { url } of questions) await client.canFetch(url);
    awaited.push(performance.now() - started);
  }
  await client.close();
  const canFetch = awaited.sort((a, b) => a - b)[awaited.length >> 1]!;
  const each = (ms: number): string => `${((ms / questions.length) * 1e6).toFixed(0)} ns`;
  return [
    {
      what: 'warm peek(url), site by site',
      ours: each(took.peek),
      peer: each(took.peer),
      ratio: `${(took.peer / took.peek).toFixed(1)} ×`,
      bar: '≥ 12 ×',
      held: took.peer / took.peek >= 12,
    },
    {
      what: 'warm await canFetch(url)',
      ours: each(canFetch),
      peer: each(took.peek),
      ratio: `${(canFetch / took.peek).toFixed(1)} × peek`,
      bar: '≤ 2 ×',
      held: canFetch / took.peek <= 2,
    },
  ];
}
