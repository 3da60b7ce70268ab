import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { guardFetch, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { omitUndefined } from '../../../src/core/base/index.ts';
import { lookupIn } from '../../support/internet.ts';
import { runSteps } from '../../support/socket-steps.ts';
import { startRawSite } from '../../support/site.ts';

/** A server that sends these bytes, and how it is asked. */
export interface WireCase {
  readonly transport: 'undici' | 'fetch' | 'guardFetch';
  /** Base64 of what is sent in one piece. After the last piece the server closes the connection. */
  readonly pieces: readonly string[];
}

/** What came of it. */
export interface WireResult {
  readonly state: string;
  readonly allowed: boolean;
  readonly status?: number;
  readonly error?: string;
}

/**
 * Asks a server about `/x/page`, case after case, in a process of its own: what ends the process, or raises an uncaught
 * exception, is its exit code.
 */
const transports: Readonly<Record<'undici' | 'fetch', RobotsClientOptions>> = {
  undici: { lookup: lookupIn({ localhost: ['127.0.0.1'] }) },
  fetch: { transport: { fetch } },
};

async function serve({ pieces }: WireCase): Promise<AsyncDisposable & { readonly origin: string }> {
  const bytes = pieces.map((piece) => Buffer.from(piece, 'base64'));
  return startRawSite((socket) => void runSteps(socket, [...bytes, 'end']));
}

async function askForPage(wireCase: WireCase): Promise<WireResult> {
  const site = await serve(wireCase);
  const verdict = { verdict: 'allow', because: 'test' } as const;
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0', overrides: { [site.origin]: verdict } });
  const { status, body } = await guardFetch(fetch, robots)(`${site.origin}/x/page`);
  await body?.cancel();
  await robots.close();
  await site[Symbol.asyncDispose]();
  return { state: 'page', allowed: true, status };
}

async function ask(wireCase: WireCase): Promise<WireResult> {
  if (wireCase.transport === 'guardFetch') return askForPage(wireCase);
  const site = await serve(wireCase);
  const robots = new RobotsClient({ agent: 'ExampleBot/1.0', ...transports[wireCase.transport] });
  try {
    const decision = await robots.check(`${site.origin}/x/page`);
    const { state, allowed, robots: about } = decision;
    return { state, allowed, ...omitUndefined({ status: about.status, error: about.error }) };
  } finally {
    await robots.close();
    await site[Symbol.asyncDispose]();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const result = await ask(JSON.parse(line) as WireCase);
  // What is raised late, when the connection has ended, is raised before the next case.
  for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
  if (!process.stdout.write(`${JSON.stringify(result)}\n`)) await once(process.stdout, 'drain');
}
