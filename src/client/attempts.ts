import type { LightAbortSignal } from '../base/index.ts';
import type { Attempts, OriginMemory } from '../cache/index.ts';
import type { OriginRecord, Outcome } from '../lifecycle/index.ts';
import type { OriginSettings } from './origin-settings.ts';
import type { RobotsRequests } from './robots-requests.ts';
import type { Settings } from './settings.ts';

/**
 * The attempts of a client. Loads `robots-requests.ts`, and HTTP with it, at the first: that takes half of the import
 * time of the package.
 */
export class ClientAttempts implements Attempts {
  readonly #settings: Settings;
  readonly #origins: OriginSettings;
  readonly #memory: OriginMemory;
  #requests: Promise<RobotsRequests> | undefined;

  constructor(settings: Settings, origins: OriginSettings, memory: OriginMemory) {
    this.#settings = settings;
    this.#origins = origins;
    this.#memory = memory;
  }

  async attempt(origin: string, known: OriginRecord | undefined, signal: LightAbortSignal): Promise<Outcome> {
    this.#requests ??= this.#load();
    const requests = await this.#requests;
    return requests.perform(origin, known, signal);
  }

  /** Closes the client's own connections. */
  async close(): Promise<void> {
    const requests = await this.#requests;
    await requests?.close();
  }

  async #load(): Promise<RobotsRequests> {
    const { RobotsRequests } = await import('./robots-requests.ts');
    return RobotsRequests.open(this.#settings, this.#origins, this.#memory);
  }
}
