import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { guardFetch, RobotsClient, type RobotsClientOptions } from '../../../src/index.ts';
import { omitUndefined } from '../../../src/core/base/index.ts';
import { makeAuthority } from '../../support/certificates.ts';
import { startHttp2Site } from '../../support/http2-site.ts';
import { lookupIn } from '../../support/internet.ts';
import { runSteps } from '../../support/socket-steps.ts';
import { startRawSite } from '../../support/site.ts';

/** A server that sends these bytes, and how it is asked. */
export interface WireCase {
  readonly protocol: 'http1' | 'http2';
  readonly transport: 'undici' | 'fetch' | 'guardFetch';
  /** Base64 of what is sent in one piece. After the last piece the server closes the connection. */
  readonly pieces: readonly string[];
  /** The caller aborts after so many milliseconds. */
  readonly abortAfterMs?: number;
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
process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
const identity = makeAuthority().issue({ host: 'localhost' });
const transports: Readonly<Record<'undici' | 'fetch', RobotsClientOptions>> = {
  undici: { lookup: lookupIn({ localhost: ['127.0.0.1'] }) },
  fetch: { transport: { fetch } },
};

async function serve({ protocol, pieces }: WireCase): Promise<AsyncDisposable & { readonly origin: string }> {
  const bytes = pieces.map((piece) => Buffer.from(piece, 'base64'));
  if (protocol === 'http2') return startHttp2Site(identity, [[...bytes, 'end']], false);
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
  const controller = new AbortController();
  const { abortAfterMs } = wireCase;
  if (abortAfterMs !== undefined) setTimeout(() => controller.abort(), abortAfterMs);
  try {
    const page = `${site.origin}/x/page`;
    const decision = await robots.check(page, undefined, { signal: controller.signal });
    const { state, allowed, robots: about } = decision;
    return { state, allowed, ...omitUndefined({ status: about.status, error: about.error }) };
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    return { state: 'aborted', allowed: false };
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
