import { decodeValue, encodeValue } from '../../src/core/store/value-encoding.ts';
import type { RobotsStore, StoreLease, StoreLeaseOptions, StoreSetOptions } from '../../src/index.ts';

interface Held {
  readonly bytes: Buffer;
  readonly until: number;
}

/** What a Redis store would do and hold, in memory: each call is one command, values are packed as there. */
export class CountingStore implements RobotsStore {
  commands = 0;
  /** Bytes of values that went to the server or came from it. */
  moved = 0;
  private readonly clock: { now(): number };
  private readonly values = new Map<string, Held>();
  private readonly leases = new Map<string, { readonly token: string; readonly until: number }>();
  private tokens = 0;

  constructor(clock: { now(): number }) {
    this.clock = clock;
  }

  /** Bytes of all keys and values, without the server's own bookkeeping. */
  get bytes(): number {
    let total = 0;
    for (const [key, { bytes }] of this.values) total += key.length + bytes.length;
    return total;
  }

  get(key: string): Promise<string | undefined> {
    this.commands++;
    return this.read(key);
  }

  async set(key: string, value: string, { ttlMs }: StoreSetOptions): Promise<void> {
    this.commands++;
    await this.write(key, value, ttlMs);
  }

  async delete(key: string): Promise<void> {
    this.commands++;
    this.values.delete(key);
  }

  async lease(key: string, ttlMs: number, options: StoreLeaseOptions = {}): Promise<StoreLease | undefined> {
    this.commands++;
    const now = this.clock.now();
    if ((this.leases.get(key)?.until ?? 0) > now) return undefined;
    const token = String(++this.tokens).padStart(16, '0');
    this.leases.set(key, { token, until: now + ttlMs });
    const { valueKey = '' } = options;
    const giveBack = (): void => {
      if (this.leases.get(key)?.token === token) this.leases.delete(key);
    };
    return {
      token,
      value: (await this.read(valueKey)) ?? null,
      setAndRelease: async (value, { ttlMs: valueTtlMs }) => {
        this.commands++;
        await this.write(valueKey, value, valueTtlMs);
        giveBack();
      },
      release: async () => {
        this.commands++;
        giveBack();
      },
    };
  }

  private async read(key: string): Promise<string | undefined> {
    const held = this.values.get(key);
    if (held === undefined || held.until <= this.clock.now()) return undefined;
    this.moved += held.bytes.length;
    return decodeValue(held.bytes);
  }

  private async write(key: string, value: string, ttlMs: number): Promise<void> {
    const bytes = await encodeValue(value);
    this.moved += bytes.length;
    this.values.set(key, { bytes, until: this.clock.now() + ttlMs });
  }
}
