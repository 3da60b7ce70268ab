import { isDeepStrictEqual } from 'node:util';
import type { Dispatcher } from 'undici';

/** The property under which undici up to version 7 stores the global dispatcher; Node's own copy too. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');
/**
 * The property under which undici 8 stores it. Under the property above it then stores a `Dispatcher1Wrapper`, for
 * older copies.
 */
const GLOBAL_DISPATCHER_2 = Symbol.for('undici.globalDispatcher.2');

const WRAPPER = 'Dispatcher1Wrapper';

/** Whether a dispatcher is the default that undici sets by itself, by dispatcher. */
const isDefault = new WeakMap<object, boolean>();

/**
 * The global dispatcher of the process, if one was set: with `setGlobalDispatcher` of any copy of undici, or
 * by starting Node with `NODE_USE_ENV_PROXY` or `--use-env-proxy`, which sets an `EnvHttpProxyAgent`. `undefined` for
 * the plain `Agent` that undici sets when it is loaded, or when `fetch` is first called.
 */
export function configuredGlobalDispatcher(): Dispatcher | undefined {
  const legacy: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER);
  if (!isDispatcher(legacy)) return undefined;
  // The wrapper of undici 8.4 to 8.10 does not use a `MockAgent` that it wraps.
  const wrapped: unknown = isWrapped(legacy) ? Reflect.get(globalThis, GLOBAL_DISPATCHER_2) : undefined;
  const dispatcher = isDispatcher(wrapped) ? wrapped : legacy;
  let plain = isDefault.get(dispatcher);
  if (plain === undefined) {
    plain = isPlainAgent(dispatcher);
    isDefault.set(dispatcher, plain);
  }
  return plain ? undefined : dispatcher;
}

/** Whether it is undici 8's wrapper. The wrapper takes handlers of undici 7, not those of its own `request()`. */
export function isWrapped(dispatcher: object): boolean {
  return dispatcher.constructor.name === WRAPPER;
}

export function isDispatcher(value: unknown): value is Dispatcher {
  return typeof Object(value).dispatch === 'function';
}

/**
 * Whether an `Agent`, of any copy of undici, behaves as one made without options. No copy marks its default agent, so
 * the state is compared with that of a new one: `new Agent({ connect })` may use a SOCKS proxy. `compose()` also
 * returns an `Agent`, with another `dispatch`. An agent of unknown shape does not count as plain.
 */
function isPlainAgent(agent: object): boolean {
  const { constructor } = agent;
  if (constructor.name !== 'Agent' || Object.getPrototypeOf(constructor).name === 'Agent') return false;
  if (Reflect.get(agent, 'dispatch') !== Reflect.get(constructor.prototype, 'dispatch')) return false;
  if (stateOf(agent, 'options') === undefined || stateOf(agent, 'factory') === undefined) return false;
  const fresh: object = Reflect.construct(constructor, []);
  return ['options', 'factory', 'maxRedirections'].every((name) =>
    isDeepStrictEqual(stateOf(agent, name), stateOf(fresh, name)),
  );
}

/** The value that an agent stores under a symbol of that name. */
function stateOf(agent: object, name: string): unknown {
  const symbol = Object.getOwnPropertySymbols(agent).find(({ description }) => description === name);
  return symbol === undefined ? undefined : Reflect.get(agent, symbol);
}
