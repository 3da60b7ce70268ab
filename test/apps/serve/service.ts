import { EventEmitter } from 'node:events';
import { request as send } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { Moment } from '../../support/moment.ts';
import { Collector } from '../cli/session.ts';
import { serve } from '../../../src/apps/cli/serve/run.ts';
import { DEFAULT_LIMITS, type ServiceLimits } from '../../../src/apps/serve/exchange.ts';
import type { PromClient } from '../../../src/apps/serve/metrics.ts';
import { readArguments } from '../../../src/apps/cli/frame/arguments.ts';
import { serve as serveCommand } from '../../../src/apps/cli/commands.ts';
import { run } from '../../../src/apps/cli/run.ts';

/** `canfetch serve`, running in this process. */
export interface TestService extends AsyncDisposable {
  /** Without the slash at the end. */
  readonly origin: string;
  /** Where it listens. */
  readonly port: number;
  readonly stderr: Collector;
  /** Sends SIGTERM; resolves with the exit code. */
  terminate(): Promise<number>;
  /** Sends SIGHUP. Returns whether the service listens for it. */
  hangUp(): boolean;
  /** Presses Ctrl-C; resolves with the exit code. */
  interrupt(): Promise<number>;
}

/** Starts it on a free port; `loadPromClient` stands in for the optional peer, `limits` for the service's own. */
export async function startService(
  argv: readonly string[] = ['--allow-private'],
  loadPromClient?: () => Promise<PromClient | undefined>,
  limits?: Partial<ServiceLimits>,
): Promise<TestService> {
  const firstOutput = new Moment<string>();
  const stdout = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      firstOutput.now(String(chunk));
      done();
    },
  });
  const stderr = new Collector();
  const interrupted = new AbortController();
  const signals = new EventEmitter();
  const session = {
    argv: ['serve', '--port', '0', ...argv],
    env: {},
    stdin: Readable.from([]),
    stdout,
    stderr,
    signal: interrupted.signal,
    onSignal(name: string, listener: () => void): () => void {
      signals.on(name, listener);
      return () => signals.off(name, listener);
    },
  };
  const ended: Promise<number> =
    loadPromClient === undefined && limits === undefined
      ? run(session)
      : serve(readArguments(serveCommand, session.argv.slice(1)), session, loadPromClient, {
          ...DEFAULT_LIMITS,
          ...limits,
        });
  const text = await Promise.race([
    firstOutput.come,
    ended.then((code) => Promise.reject(new Error(`exit ${code}: ${stderr.text}`))),
  ]);
  const url = /^canfetch serves at (http:\S+)\/\n$/.exec(text)?.[1];
  if (url === undefined) throw new Error(`Expected the address, got ${JSON.stringify(text)}`);
  const terminate = (): Promise<number> => {
    signals.emit('SIGTERM');
    return ended;
  };
  return {
    origin: url,
    port: Number(new URL(url).port),
    stderr,
    terminate,
    hangUp: () => signals.emit('SIGHUP'),
    interrupt() {
      interrupted.abort(new Error('Interrupted'));
      return ended;
    },
    async [Symbol.asyncDispose]() {
      await terminate();
    },
  };
}

export interface PlainAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A request with whatever headers, which `fetch` would not send. */
export function ask(
  origin: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<PlainAnswer> {
  return new Promise((resolve, reject) => {
    const request = send(origin + path, { method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
        }),
      );
      response.on('error', reject);
    });
    request.on('error', reject);
    request.end(body);
  });
}
