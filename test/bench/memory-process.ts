import { RobotsClient } from '../../src/index.ts';
import { usedBytes } from '../support/garbage.ts';
import { benchFiles } from './files.ts';

/** What a client holds after each of these steps, in a process of its own. Needs `--expose-gc`. */
export interface ClientMemory {
  readonly origins: number;
  /** Bytes of all bodies. */
  readonly bodyBytes: number;
  /** In order, each after those before it. `heldBytes`: by the process; `reckonedBytes`: by `stats()`. */
  readonly steps: readonly {
    readonly step: string;
    readonly heldBytes: number;
    readonly reckonedBytes: number;
    /** Whether rules of several agents are held, for which there is no budget. */
    readonly severalAgents: boolean;
  }[];
  /** How many origins the cache holds by default, of files that sites have. */
  readonly originsByDefault: number;
}

const AGENTS = ['ExampleBot', 'Googlebot', 'GPTBot'];

async function measure(): Promise<ClientMemory> {
  const { files } = benchFiles();
  const bodies = new Map(files.map((file) => [`https://${file.host}/robots.txt`, file.bytes]));
  const questions = files.flatMap(({ urls }) => urls);
  const makeClient = (): RobotsClient =>
    new RobotsClient({
      agent: `${AGENTS[0]}/1.0`,
      cache: { maxOrigins: files.length * 2, maxBytes: 2 ** 30 },
      transport: {
        fetch: async (url) =>
          new Response(bodies.get(url) ?? null, {
            status: bodies.has(url) ? 200 : 404,
            headers: HEADERS,
          }),
      },
    });
  // What is made once, whatever is held, is no part of an origin.
  const first = makeClient();
  await first.prefetch(questions.slice(0, 1_000));
  for (const url of questions.slice(0, 1_000)) for (const agent of AGENTS) first.peek(url, agent);
  await first.policy(questions[0]!);
  await first.close();

  const client = makeClient();
  const before = await usedBytes();
  const steps: ClientMemory['steps'][number][] = [];
  const end = async (step: string, severalAgents = false): Promise<void> => {
    const heldBytes = (await usedBytes()) - before;
    steps.push({ step, heldBytes, reckonedBytes: client.stats().bytes, severalAgents });
  };
  await client.prefetch(questions);
  await end('prefetch');
  for (const url of questions) await client.check(url);
  await end('check');
  for (const { host } of files) await client.policy(`https://${host}`);
  await end('policy');
  for (const url of questions) for (const agent of AGENTS) await client.check(url, agent);
  await end(`check by ${AGENTS.length} agents`, true);
  const bodyBytes = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const { origins } = client.stats();
  await client.close();
  return {
    origins,
    bodyBytes,
    steps,
    originsByDefault: await heldByDefault(files.map(({ bytes }) => bytes)),
  };
}

/** More origins than fit, each of which has one of these files. */
async function heldByDefault(files: readonly Uint8Array[]): Promise<number> {
  let next = 0;
  await using client = new RobotsClient({
    agent: AGENTS[0]!,
    transport: {
      fetch: async () => new Response(Uint8Array.from(files[next++ % files.length]!), { headers: HEADERS }),
    },
  });
  for (let site = 0; site < 30_000; site++) await client.check(`https://site${site}.example/page?n=${site}`);
  return client.stats().origins;
}

/** What servers commonly say of a file. */
const HEADERS = {
  'content-type': 'text/plain; charset=utf-8',
  'cache-control': 'max-age=86400',
  date: new Date().toUTCString(),
  etag: '"5f3a-1c2b3d4e5f"',
  'last-modified': 'Thu, 15 Jan 2026 12:00:00 GMT',
};

process.send?.(await measure());
