import type nodeBuffer from 'node:buffer';
import type nodeCrypto from 'node:crypto';
import type diagnosticsChannel from 'node:diagnostics_channel';
import type http from 'node:http';
import type zlib from 'node:zlib';
import { RobotsInvalidOptionsError } from './errors.ts';

interface Builtins {
  readonly 'node:buffer': typeof nodeBuffer;
  readonly 'node:crypto': typeof nodeCrypto;
  readonly 'node:diagnostics_channel': typeof diagnosticsChannel;
  readonly 'node:http': typeof http;
  /** Since Node.js 22.13. */
  readonly 'node:sqlite': {
    readonly DatabaseSync: new (path: string) => {
      exec(sql: string): void;
      prepare(sql: string): {
        get(...values: (string | number | Uint8Array)[]): unknown;
        all(...values: (string | number | Uint8Array)[]): unknown[];
        run(...values: (string | number | Uint8Array)[]): unknown;
      };
      close(): void;
    };
  };
  readonly 'node:zlib': typeof zlib;
}

/**
 * A module of Node, on platforms that have it: Node, Bun, Deno. `undefined` in browsers, and in Workers without
 * `nodejs_compat`. Without an `import` of it, bundles for those platforms need no replacement.
 */
export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const { process }: { process?: { getBuiltinModule?(id: Name): Builtins[Name] | undefined } } = globalThis;
  return process?.getBuiltinModule?.(name);
}

/**
 * Loads an optional peer when an entry point needs it, so that other users need not install it.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when it cannot be loaded.
 */
export function loadPeer<Module>(name: string, entryPoint: string, load: () => Module): Module {
  try {
    return load();
  } catch (cause) {
    throw new RobotsInvalidOptionsError(
      `Expected the package \`${name}\`, which ${entryPoint} needs, to be installed: npm install ${name}`,
      { cause },
    );
  }
}

/** The client that a message is about, to compare with one's own: channels are of the process, with all its clients. */
export interface ClientMessage {
  readonly client: object;
}

/** One channel of `node:diagnostics_channel`. */
export interface Publisher<Message> {
  readonly hasSubscribers: boolean;
  publish(message: Message): void;
}

/** Stands for every channel on platforms without `node:diagnostics_channel`. */
const silent: Publisher<unknown> = { hasSubscribers: false, publish: () => {} };

/** The channel of that name. On platforms without `node:diagnostics_channel` it has no subscribers. */
export function channel<Message>(name: string): Publisher<Message> {
  return builtin('node:diagnostics_channel')?.channel(name) ?? silent;
}

/**
 * Calls each listener with the messages of its channel that are about `client`. Returns what ends that; `undefined` on
 * platforms without `node:diagnostics_channel`.
 */
export function listenTo(
  client: object,
  listeners: Readonly<Record<string, (message: never) => void>>,
): (() => void) | undefined {
  const channels = builtin('node:diagnostics_channel');
  if (channels === undefined) return undefined;
  const ends = Object.entries(listeners).map(([name, listener]) => {
    const ours = (message: unknown): void => {
      if (Reflect.get(Object(message), 'client') === client) listener(message as never);
    };
    channels.subscribe(name, ours);
    return () => channels.unsubscribe(name, ours);
  });
  return () => {
    for (const end of ends) end();
  };
}

/**
 * A tracing channel of `node:diagnostics_channel`: it publishes when work starts and when it ends, and lets subscribers give
 * that work a context of their own.
 */
export interface TracedWork<Message extends object> {
  readonly hasSubscribers: boolean;
  /** Runs `work`. Subscribers find its value in `message.result`, or what it rejected with in `message.error`. */
  tracePromise<Value>(work: () => Promise<Value>, message: Message): Promise<Value>;
}

const untraced: TracedWork<object> = { hasSubscribers: false, tracePromise: (work) => work() };

/** The tracing channel of that name. On platforms without it, it has no subscribers. */
export function tracedWork<Message extends object>(name: string): TracedWork<Message> {
  return builtin('node:diagnostics_channel')?.tracingChannel?.<unknown, Message>(name) ?? untraced;
}

/** The SHA-256 of bytes, in hex: what `sha256sum` prints. */
export async function sha256Of(bytes: Uint8Array): Promise<string> {
  const known = sha256Now(bytes);
  if (known !== undefined) return known;
  const digest = await crypto.subtle.digest('SHA-256', new Uint8Array(bytes));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** {@link sha256Of} at once; `undefined` in browsers and Workers, whose digests are asynchronous. */
export function sha256Now(bytes: Uint8Array): string | undefined {
  const nodeCrypto = builtin('node:crypto');
  // `hash()` takes a third of the time of a hash object. Other runtimes may lack it.
  return (
    nodeCrypto?.hash?.('sha256', bytes, 'hex') ?? nodeCrypto?.createHash('sha256').update(bytes).digest('hex')
  );
}
