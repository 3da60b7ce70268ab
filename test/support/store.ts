import { durationMs } from '../../src/core/store/store.ts';
import type {
  PauseCause,
  RobotsStore,
  StoreLease,
  StorePause,
  StoreReserveOptions,
  StoreSlot,
  StoreSetOptions,
} from '../../src/core/store/store.ts';

export type StoreCall = 'get' | 'set' | 'delete' | 'lease' | 'release' | 'reserve' | 'pause';

/** What a call does instead of its work. `late`: the work, but only when {@link ScriptedStore.proceed} is called. */
export type StoreFault =
  | { readonly kind: 'reject' | 'throw' | 'hang' | 'late' }
  | { readonly kind: 'give'; readonly value: unknown };

export interface ScriptedStoreOptions {
  readonly clock: { now(): number };
  /** @default true */
  readonly leases?: boolean;
  /** @default false */
  readonly reserves?: boolean;
}

/** A store in memory, in virtual time, with scripted failures. It records its calls. */
export class ScriptedStore implements RobotsStore {
  readonly entries = new Map<string, { value: string; until: number; ttlMs: number; recordedAt: number }>();
  readonly calls: { readonly call: StoreCall; readonly key: string }[] = [];
  readonly leaseTtls: number[] = [];
  readonly reservedMs: number[] = [];
  readonly lease?: NonNullable<RobotsStore['lease']>;
  readonly reserve?: (key: string, delayMs: number, options?: StoreReserveOptions) => Promise<StoreSlot>;
  readonly pause?: (key: string, pauseMs: number, cause?: PauseCause) => Promise<StorePause>;
  private readonly clock: { now(): number };
  private readonly faults = new Map<StoreCall, StoreFault>();
  private readonly leases = new Map<string, { token: string; until: number }>();
  private readonly slots = new Map<string, { readonly end: number; readonly delayMs: number }>();
  private readonly paused = new Map<
    string,
    { readonly until: number; readonly cause: PauseCause | undefined }
  >();
  private readonly held: (() => void)[] = [];

  constructor({ clock, leases = true, reserves = false }: ScriptedStoreOptions) {
    this.clock = clock;
    if (leases) this.lease = (key, ttlMs) => this.do('lease', key, () => this.take(key, ttlMs));
    if (!reserves) return;
    this.reserve = (key, delayMs, options) => this.do('reserve', key, () => this.book(key, delayMs, options));
    this.pause = (key, pauseMs, cause) => this.do('pause', key, () => this.pauseUntil(key, pauseMs, cause));
  }

  get(key: string): Promise<string | undefined> {
    return this.do('get', key, () => {
      const entry = this.entries.get(key);
      return entry === undefined || entry.until <= this.clock.now() ? undefined : entry.value;
    });
  }

  set(key: string, value: string, { ttlMs, recordedAt }: StoreSetOptions): Promise<void> {
    return this.do('set', key, () => {
      durationMs('ttlMs', ttlMs);
      const now = this.clock.now();
      const before = this.entries.get(key);
      const isLater = before !== undefined && before.recordedAt > (recordedAt ?? now);
      if (isLater && before.until > now && before.recordedAt <= now + 120_000) return;
      this.entries.set(key, { value, until: now + ttlMs, ttlMs, recordedAt: recordedAt ?? now });
    });
  }

  delete(key: string): Promise<void> {
    return this.do('delete', key, () => void this.entries.delete(key));
  }

  /** From now on these calls fail so. */
  fail(kind: StoreFault['kind'] | StoreFault, ...calls: StoreCall[]): void {
    const all: readonly StoreCall[] = ['get', 'set', 'delete', 'lease', 'release', 'reserve', 'pause'];
    const fault = typeof kind === 'string' ? ({ kind, value: undefined } as StoreFault) : kind;
    for (const call of calls.length === 0 ? all : calls) this.faults.set(call, fault);
  }

  /** All is well again. */
  recover(): void {
    this.faults.clear();
  }

  /** The calls that were made to come late end now. */
  proceed(): void {
    for (const each of this.held.splice(0)) each();
  }

  /** Everything is lost, as when a server without persistence starts anew. */
  empty(): void {
    this.entries.clear();
    this.leases.clear();
  }

  count(call: StoreCall): number {
    return this.calls.filter((each) => each.call === call).length;
  }

  /** The one entry about `origin`. */
  entryOf(origin: string): { value: string; ttlMs: number } | undefined {
    const found = [...this.entries].find(([key]) => key.endsWith(origin));
    return found?.[1];
  }

  /** Puts `value` in the place of what is stored about `origin`. */
  poison(origin: string, value: string): void {
    for (const [key, entry] of this.entries) if (key.endsWith(origin)) entry.value = value;
  }

  private do<Value>(call: StoreCall, key: string, work: () => Value): Promise<Value> {
    this.calls.push({ call, key });
    const fault = this.faults.get(call);
    if (fault?.kind === 'throw') throw new Error(`the store cannot ${call}`);
    return this.end(call, fault, work);
  }

  private async end<Value>(
    call: StoreCall,
    fault: StoreFault | undefined,
    work: () => Value,
  ): Promise<Value> {
    // Never in the caller's own turn, like a real one.
    await Promise.resolve();
    switch (fault?.kind) {
      case 'reject':
        throw new Error(`the store cannot ${call}`);
      case 'hang':
        return new Promise(() => undefined);
      case 'late':
        await new Promise<void>((resolve) => this.held.push(resolve));
        return work();
      case 'give':
        return fault.value as Value;
      case 'throw':
      case undefined:
        return work();
    }
  }

  private take(key: string, ttlMs: number): StoreLease | undefined {
    durationMs('ttlMs', ttlMs);
    this.leaseTtls.push(ttlMs);
    const held = this.leases.get(key);
    if (held !== undefined && held.until > this.clock.now()) return undefined;
    const token = String(this.leaseTtls.length).padStart(9, '0');
    this.leases.set(key, { token, until: this.clock.now() + ttlMs });
    return {
      release: () =>
        this.do('release', key, () => {
          if (this.leases.get(key)?.token === token) this.leases.delete(key);
        }),
    };
  }

  private book(key: string, delayMs: number, options: StoreReserveOptions = {}): StoreSlot {
    const { minWaitMs = 0, maxWaitMs = Infinity } = options;
    this.reservedMs.push(durationMs('delayMs', delayMs));
    durationMs('minWaitMs', minWaitMs);
    const now = this.clock.now();
    const pausedUntil = this.paused.get(key)?.until ?? -Infinity;
    const last = this.slots.get(key) ?? { end: -Infinity, delayMs: 0 };
    const at = Math.max(now + minWaitMs, pausedUntil, last.end + Math.max(delayMs, last.delayMs));
    if (at - now <= maxWaitMs) this.slots.set(key, { end: at, delayMs });
    return { waitMs: at - now, ...this.pauseOf(key) };
  }

  private pauseUntil(key: string, pauseMs: number, cause?: PauseCause): StorePause {
    const until = this.clock.now() + durationMs('pauseMs', pauseMs);
    if (until > (this.paused.get(key)?.until ?? -Infinity)) this.paused.set(key, { until, cause });
    return this.pauseOf(key);
  }

  private pauseOf(key: string): StorePause {
    const { until = -Infinity, cause } = this.paused.get(key) ?? {};
    const pauseMs = Math.max(0, until - this.clock.now());
    return pauseMs === 0 || cause === undefined ? { pauseMs } : { pauseMs, cause };
  }
}
