import { RobotsInvalidOptionsError } from '../../core/base/index.ts';

/** The part of an axios instance that its guard and its transport use. */
export interface AxiosLike {
  getUri(config?: object): string;
  request(config: object): Promise<unknown>;
  readonly interceptors: {
    readonly request: { readonly use: (onFulfilled: never) => number };
  };
}

/**
 * Instances of axios 1 have the `constructor` of their class, or a list of adapters (from 1.2 on). Instances of axios 0
 * have neither, and no guard can read their header fields and redirects.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 */
export function assertServed(instance: object): void {
  const { request }: { request?: unknown } = Object(instance);
  const { adapter } = defaultsOf(instance);
  const isAxios0 = typeof adapter === 'function' && !Object.hasOwn(instance, 'constructor');
  if (typeof request === 'function' && !isAxios0) return;
  throw new RobotsInvalidOptionsError(
    `Expected an instance of axios 1, got ${isAxios0 ? 'one of axios 0; update the package `axios`' : 'something else'}`,
  );
}

/** The config of an instance. */
export function defaultsOf(instance: object): { readonly adapter?: unknown } {
  const { defaults }: { defaults?: object } = Object(instance);
  return Object(defaults);
}

/** A new instance, without interceptors and defaults. */
export function bareInstance(instance: AxiosLike): { request(config: object): Promise<never> } {
  const { create, constructor }: { create?: unknown; constructor: unknown } = Object(instance);
  // Instances of the class itself have no `create`.
  const bare =
    typeof create === 'function'
      ? Reflect.apply(create, instance, [{}])
      : Reflect.construct(constructor as new () => unknown, [{}]);
  for (const name of Object.keys(bare.defaults)) delete bare.defaults[name];
  return bare;
}

/** Earlier versions call no `fetch` of their config. */
export function earlierAxios(): RobotsInvalidOptionsError {
  return new RobotsInvalidOptionsError(
    'Expected axios 1.12 or later for `adapter: "fetch"`, got one whose requests cannot be seen; update the package `axios`',
  );
}

/** Whether axios sends over `fetch`: it uses the first adapter that works, and `xhr` does not work in Node. */
export function usesFetch(adapter: unknown): boolean {
  const names: readonly unknown[] = Array.isArray(adapter) ? adapter : [adapter];
  return names.find((name) => name !== 'xhr') === 'fetch';
}
