/* oxlint-disable unicorn/prefer-add-event-listener -- the transport of the SDK is no EventTarget */
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { VERSION } from '../../core/base/index.ts';
import type { Tool } from './tool.ts';

/** The parts of `@modelcontextprotocol/server` that are used. */
export interface Sdk
  extends
    Pick<typeof import('@modelcontextprotocol/server'), 'McpServer'>,
    Pick<typeof import('@modelcontextprotocol/server/stdio'), 'serveStdio' | 'StdioServerTransport'> {}

/** Loads the SDK, an optional peer dependency; `undefined` when it is not installed. */
export async function loadSdk(): Promise<Sdk | undefined> {
  try {
    const [{ McpServer }, { serveStdio, StdioServerTransport }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    return { McpServer, serveStdio, StdioServerTransport };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

/** The streams of a host. Nothing but messages of the protocol is written to `stdout`. */
interface StdioStreams {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

interface StdioOptions {
  readonly sdk: Sdk;
  readonly tools: readonly Tool[];
  /** The agent in whose name pages are fetched, for the model. */
  readonly agent: string;
  /** Receives errors outside of calls, such as unreadable messages. */
  readonly onError: (error: unknown) => void;
}

/** A connection to a host. */
export interface HostConnection {
  /** Resolves when the host has closed its end, and calls in progress have ended or had {@link GRACE_MS}. */
  readonly ended: Promise<void>;
  /** Aborts the calls in progress and ends the connection. */
  close(): Promise<void>;
}

/** Hosts close standard input first, and kill the process two seconds later. */
const GRACE_MS = 1_500;

const INSTRUCTIONS = (agent: string): string =>
  `These tools fetch pages politely, in the name of ${agent}: robots.txt is checked before each request, and cannot be ` +
  'ignored. Ask check_url before you fetch a page with another tool. When a page is refused, say so and why; do not ' +
  'try to get it from another URL, with another agent or another tool. Times are milliseconds since 1970-01-01 UTC.';

/** Serves the tools to a host over its streams, in the protocol's revisions of 2025 and 2026. */
export function connectStdio(
  { stdin, stdout }: StdioStreams,
  { sdk, tools, agent, onError }: StdioOptions,
): HostConnection {
  const calls = new Calls();
  // The SDK drops the calls in progress when its input ends.
  const input = stdin.pipe(new PassThrough(), { end: false });
  const transport = new sdk.StdioServerTransport(input, stdout);
  const handle = sdk.serveStdio(() => makeServer({ sdk, tools, agent, onError }, calls), {
    transport,
    onerror: onError,
  });
  const closed = new Promise<void>((resolve) => {
    const close = transport.onclose;
    transport.onclose = () => {
      close?.();
      resolve();
    };
  });
  const gone = new Promise<void>((resolve) => {
    // A host that no longer reads has ended, too.
    stdout.on('error', () => resolve());
    stdout.once('close', resolve);
  });
  const finished = new Promise<void>((resolve) => {
    stdin.once('end', resolve).once('close', resolve);
  }).then(() => calls.settled(GRACE_MS));
  return { ended: Promise.race([closed, gone, finished]), close: () => handle.close() };
}

/** A server for one connection. */
function makeServer(
  { sdk, tools, agent, onError }: StdioOptions,
  calls: Calls,
): InstanceType<Sdk['McpServer']> {
  const server = new sdk.McpServer(
    { name: 'canfetch', title: 'canfetch: robots.txt for agents', version: VERSION },
    { instructions: INSTRUCTIONS(agent) },
  );
  for (const tool of tools) {
    tool.register(server, (call, signal) =>
      calls.add(
        call.catch((error: unknown) => {
          if (!signal.aborted) onError(error);
          throw error;
        }),
      ),
    );
  }
  return server;
}

/** The calls in progress. */
class Calls {
  readonly #pending = new Set<Promise<unknown>>();

  add<Result>(call: Promise<Result>): Promise<Result> {
    this.#pending.add(call);
    return call.finally(() => this.#pending.delete(call));
  }

  /** Resolves when the calls of all messages so far have ended, at the latest after `ms`. */
  async settled(ms: number): Promise<void> {
    // The SDK begins a call some microtasks after its message has come, and responds some after it has settled.
    await setImmediate();
    const giveUp = new AbortController();
    const late = setTimeout(ms, undefined, { signal: giveUp.signal }).catch(() => undefined);
    await Promise.race([Promise.allSettled(this.#pending), late]);
    giveUp.abort();
    await setImmediate();
  }
}
