/** The part of Puppeteer's `Page` that the guard uses. */
export interface PageLike {
  browserContext(): BrowserContextLike;
  createCDPSession(): Promise<unknown>;
  once(event: 'close', listener: () => void): unknown;
}

/** The part of Puppeteer's `BrowserContext` that the guard uses. */
export interface BrowserContextLike {
  /** Absent for the default context of a browser. */
  readonly id?: string | undefined;
  browser(): BrowserLike;
  targets(): readonly { type(): string }[];
}

/** The part of Puppeteer's `Browser` that the guard uses. */
export interface BrowserLike {
  browserContexts(): readonly BrowserContextLike[];
  defaultBrowserContext(): BrowserContextLike;
  target(): { createCDPSession(): Promise<unknown> };
  once(event: 'disconnected', listener: () => void): unknown;
}
