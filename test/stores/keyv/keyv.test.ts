import { EventEmitter } from 'node:events';
import Keyv from 'keyv';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { RobotsClient, type StoreEvent } from '../../../src/index.ts';
import { type KeyvInstance, keyvStore } from '../../../src/stores/keyv/keyv.ts';
import { DAY, HOUR, MINUTE } from '../../support/client.ts';
import { otherMajor } from '../../support/other-major.ts';
import { answer, startSite } from '../../support/site.ts';
import { storeContract } from '../store-contract.ts';

/** Keyv goes by `Date`, and keeps what expires in this very millisecond. */
function elapse(_kind: string, _key: string, ms: number): Promise<void> {
  vi.setSystemTime(Date.now() + ms + 1);
  return Promise.resolve();
}

/** The calls of Cloudflare KV, and what it refuses: keys over 512 bytes, and times below a minute. */
class CloudflareKv {
  readonly entries = new Map<string, { value: string; until: number }>();

  async get(key: string): Promise<string | null> {
    const entry = this.entries.get(key);
    return entry === undefined || entry.until <= Date.now() ? null : entry.value;
  }

  async put(key: string, value: string, { expirationTtl }: { expirationTtl: number }): Promise<void> {
    if (typeof value !== 'string') throw new TypeError('KV put() accepts only strings');
    if (!Number.isInteger(expirationTtl) || expirationTtl < 60) {
      throw new Error(
        `KV PUT failed: 400 Invalid expiration_ttl of ${expirationTtl}. It must be at least 60.`,
      );
    }
    if (Buffer.byteLength(key) > 512) throw new Error('KV PUT failed: 414 UTF-8 encoded length exceeds 512');
    this.entries.set(key, { value, until: Date.now() + expirationTtl * 1_000 });
  }

  async delete(key: string): Promise<void> {
    this.entries.delete(key);
  }
}

/** The adapter of the guide. */
const adapterOf = (kv: CloudflareKv) => ({
  get: async (key: string) => (await kv.get(key)) ?? undefined,
  set: (key: string, value: string, ttl = 60_000) =>
    kv.put(key, value, { expirationTtl: Math.max(60, Math.ceil(ttl / 1_000)) }),
  delete: async (key: string) => {
    await kv.delete(key);
    return true;
  },
  clear: async () => undefined,
});

/** A backend that fails as long as `isDown`. */
class Backend extends Map<string, string> {
  isDown = false;

  override get(key: string): string | undefined {
    this.check();
    return super.get(key);
  }

  override set(key: string, value: string): this {
    this.check();
    return super.set(key, value);
  }

  override delete(key: string): boolean {
    this.check();
    return super.delete(key);
  }

  private check(): void {
    if (this.isDown) throw new Error('the backend is down');
  }
}

/** What Keyv 6 does with a failure: it rejects if the event has no listener, else it hides the failure. */
class KeyvSix extends EventEmitter implements KeyvInstance {
  private readonly backend: Backend;

  constructor(backend: Backend) {
    super();
    this.backend = backend;
  }

  get = (key: string): Promise<unknown> => this.attempt(() => this.backend.get(key), undefined);
  set = (key: string, value: string): Promise<unknown> =>
    this.attempt(() => this.backend.set(key, value) && true, false);
  delete = (key: string): Promise<unknown> => this.attempt(() => this.backend.delete(key), false);

  private async attempt(work: () => unknown, failed: unknown): Promise<unknown> {
    try {
      return work();
    } catch (error) {
      this.emit('error', error);
      await Promise.resolve();
      return failed;
    }
  }
}

afterEach(() => vi.useRealTimers());

storeContract(
  'Keyv, in memory',
  async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    return { store: keyvStore(new Keyv({ throwOnErrors: true })), elapse, close: async () => undefined };
  },
  'values',
);

const keyvSix = await otherMajor<{ default: typeof Keyv }>('keyv-6');
if (keyvSix !== undefined)
  storeContract(
    'Keyv 6, in memory',
    async () => {
      vi.useFakeTimers({ toFake: ['Date'] });
      const store = keyvStore(new keyvSix.default({ throwOnErrors: true }));
      return { store, elapse, close: async () => undefined };
    },
    'values',
  );

describe('Keyv', () => {
  it('over Cloudflare KV keeps the records of a client', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const kv = new CloudflareKv();
    const store = keyvStore(new Keyv({ store: adapterOf(kv), throwOnErrors: true }));
    await store.set('a moment', 'value', { ttlMs: 0.5 });
    expect(await store.get('a moment')).toBe('value');
    expect([...kv.entries.values()].map(({ until }) => until - Date.now())).toEqual([MINUTE]);
    await elapse('value', 'a moment', 2);
    // KV still has it, but its time is over.
    expect(await store.get('a moment')).toBeUndefined();

    await using site = await startSite((_, response) =>
      answer(response, { body: 'User-agent: *\nDisallow: /private' }),
    );
    const events: StoreEvent[] = [];
    const options = { store, onStoreEvent: (event: StoreEvent) => events.push(event) };
    const first = new RobotsClient({ agent: 'ExampleBot/1.0', ...options });
    expect(await first.canFetch(`${site.origin}/private`)).toBe(false);
    await first.close();
    const second = new RobotsClient({ agent: 'ExampleBot/1.0', ...options });
    expect(await second.check(`${site.origin}/private`)).toMatchObject({
      allowed: false,
      robots: { source: 'store' },
    });
    await second.close();
    expect(site.requests).toHaveLength(1);
    expect(events).toEqual([]);
    const longest = `https://${'a'.repeat(290)}:8443`;
    await store.set(`v1:record:examplebot:no-public-to-private:${longest}`, 'value', { ttlMs: HOUR });
  });

  it.each([
    ['Keyv 5', (backend: Backend) => new Keyv({ store: backend, throwOnErrors: true })],
    [
      'Keyv 5, with a listener',
      (backend: Backend) => new Keyv({ store: backend, throwOnErrors: true }).on('error', () => undefined),
    ],
    ['Keyv 6', (backend: Backend) => new KeyvSix(backend)],
    ['Keyv 6, with a listener', (backend: Backend) => new KeyvSix(backend).on('error', () => undefined)],
  ])('%s: rejects while the backend fails, and works again afterwards', async (_, make) => {
    const backend = new Backend();
    const store = keyvStore(make(backend));
    await store.set('k', 'value', { ttlMs: DAY });
    backend.isDown = true;
    const message = expect.stringMatching(/backend is down/);
    await expect(store.get('k')).rejects.toMatchObject({ message });
    await expect(store.set('k', 'new', { ttlMs: DAY })).rejects.toMatchObject({ message });
    await expect(store.delete('k')).rejects.toMatchObject({ message });
    backend.isDown = false;
    expect(await store.get('k')).toBe('value');
    await store.delete('k');
    await store.delete('k');
    expect(await store.get('k')).toBeUndefined();
  });

  it('a backend that emits errors and does not throw them fails too', async () => {
    const keyv = new Keyv({ throwOnErrors: true });
    const store = keyvStore({
      throwOnErrors: true,
      get: async (key) => {
        if (key === 'lost') keyv.emit('error', new Error('connection lost'));
        await Promise.resolve();
        return keyv.get(key);
      },
      set: (...args) => keyv.set(...args),
      delete: (key) => keyv.delete(key),
      on: (...args) => keyv.on(...args),
      off: (...args) => keyv.off(...args),
      listeners: (event) => keyv.listeners(event),
    });
    await store.set('k', 'value', { ttlMs: DAY });
    expect(await Promise.allSettled([store.get('lost'), store.get('k')])).toMatchObject([
      { status: 'rejected', reason: { message: 'connection lost' } },
      { status: 'fulfilled', value: 'value' },
    ]);
    expect(keyv.listeners('error')).toEqual([]);
  });

  it('a value that was not stored is a failure', async () => {
    const store = keyvStore({
      get: async () => undefined,
      set: async () => false,
      delete: async () => false,
    });
    await expect(store.set('k', 'value', { ttlMs: DAY })).rejects.toThrow(
      'Keyv did not keep the value of "k"',
    );
    await store.delete('k');
  });

  it('a value that is not a string is not a record', async () => {
    const keyv = new Keyv({ throwOnErrors: true });
    const store = keyvStore(keyv);
    for (const value of [7, null, { body: 'User-agent: *' }, true]) {
      await keyv.set('k', value);
      expect(await store.get('k')).toBeUndefined();
    }
  });

  it('refuses a Keyv that hides failures, and other objects', () => {
    const invalid = { code: 'ERR_ROBOTS_INVALID_OPTIONS' };
    expect(() => keyvStore(new Keyv())).toThrow(expect.objectContaining(invalid));
    expect(() => keyvStore(new Keyv())).toThrow('new Keyv({ throwOnErrors: true })');
    for (const none of [undefined, null, 'redis://localhost', {}, { get: () => undefined }]) {
      expect(() => keyvStore(none as never)).toThrow(expect.objectContaining(invalid));
    }
  });
});
