import { RobotsClient } from '../../src/index.ts';
import type { BenchFile } from './files.ts';
import { interleave, median, type Row, timed } from './measure.ts';
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
  let parsed = 0;
  const took = interleave(
    {
      permits: () => questions.forEach(({ url }) => void client.permits(url)),
      peek: () => questions.forEach(({ url }) => void client.peek(url)),
      peer: () => questions.forEach(({ url, peer }) => void peer.isAllowed(url, AGENT)),
      url: () => questions.forEach(({ url }) => (parsed += new URL(url).port.length)),
    },
    rounds,
  );
  if (parsed > 0) throw new Error('Expected URLs without a port');
  const awaited: { canFetch: number; permits: number }[] = [];
  for (let round = -1; round < rounds; round++) {
    const canFetch = await timed(async () => {
      for (const { url } of questions) await client.canFetch(url);
    });
    const permits = await timed(async () => {
      for (const { url } of questions) client.permits(url);
    });
    if (round >= 0) awaited.push({ canFetch: canFetch.processorMs, permits: permits.processorMs });
  }
  await client.close();
  const each = (ms: number): string => `${((ms / questions.length) * 1e6).toFixed(0)} ns`;
  const row = (what: string, ours: number, bar: number): Row => ({
    what: `${what}, warm client`,
    ours: each(ours),
    peer: each(took.peer),
    ratio: `${(took.peer / ours).toFixed(1)} ×`,
    bar: `≥ ${bar} ×`,
    used: (bar * ours) / took.peer,
  });
  const waiting = median(awaited.map(({ canFetch, permits }) => canFetch / permits));
  return [
    {
      what: '`permits(url)`, warm client, against `new URL`',
      ours: each(took.permits),
      peer: `${each(took.url)} \`new URL(url)\``,
      ratio: `${(took.permits / took.url).toFixed(2)} ×`,
      bar: '≤ 1.6 ×',
      used: took.permits / (1.6 * took.url),
    },
    row('`permits(url)`', took.permits, 6.5),
    row('`peek(url)`', took.peek, 6),
    {
      what: '`await canFetch(url)`, warm client',
      ours: each(median(awaited.map(({ canFetch }) => canFetch))),
      peer: `${each(median(awaited.map(({ permits }) => permits)))} \`permits\``,
      ratio: `${waiting.toFixed(2)} ×`,
      bar: '≤ 1.3 ×',
      used: waiting / 1.3,
    },
  ];
}
