import { isDeepStrictEqual } from 'node:util';
import type { Dispatcher } from 'undici';

/** Where every copy of undici up to 7 keeps the global dispatcher, the one inside Node included. */
const GLOBAL_DISPATCHER = Symbol.for('undici.globalDispatcher.1');
/** Where undici 8 keeps it. In the place above it then puts a `Dispatcher1Wrapper`, for older copies. */
const GLOBAL_DISPATCHER_2 = Symbol.for('undici.globalDispatcher.2');

const WRAPPER = 'Dispatcher1Wrapper';

/** Whether each dispatcher met so far is what undici sets by itself. */
const isDefault = new WeakMap<object, boolean>();

/**
 * The process's global dispatcher, if somebody has set one: `setGlobalDispatcher` of any copy of undici, or Node
 * itself under `NODE_USE_ENV_PROXY` and `--use-env-proxy`, which sets an `EnvHttpProxyAgent`. `undefined` for the
 * plain `Agent` that undici sets when it is loaded, or `fetch` when it is called first.
 */
export function configuredGlobalDispatcher(): Dispatcher | undefined {
  const dispatcher: unknown = Reflect.get(globalThis, GLOBAL_DISPATCHER);
  if (!isDispatcher(dispatcher)) return undefined;
  let plain = isDefault.get(dispatcher);
  if (plain === undefined) {
    const behind: unknown = isWrapped(dispatcher) ? Reflect.get(globalThis, GLOBAL_DISPATCHER_2) : dispatcher;
    plain = isPlainAgent(Object(behind));
    isDefault.set(dispatcher, plain);
  }
  return plain ? undefined : dispatcher;
}

/** Whether it is undici 8's translation: it takes the handlers of undici 7, and not those of its own `request()`. */
export function isWrapped(dispatcher: object): boolean {
  return dispatcher.constructor.name === WRAPPER;
}

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'dispatch' in value;
}

/**
 * An `Agent` of whatever copy of undici that does what one without options does. No copy says which agent it made by
 * itself, so its state is compared with that of a new one: `new Agent({ connect })` may lead over a SOCKS proxy.
 * `compose()` gives an `Agent` too, with another `dispatch`. An unknown shape is no plain agent.
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

/** What an agent keeps under a symbol of that name. */
function stateOf(agent: object, name: string): unknown {
  const symbol = Object.getOwnPropertySymbols(agent).find(({ description }) => description === name);
  return symbol === undefined ? undefined : Reflect.get(agent, symbol);
}
