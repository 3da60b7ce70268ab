/** The part of Playwright's `Page` that the guard uses. */
export interface PageLike {
  context(): BrowserContextLike;
  frames(): readonly object[];
  once(event: 'close', listener: () => void): unknown;
}

/** The part of Playwright's `BrowserContext` that the guard uses. */
export interface BrowserContextLike {
  browser(): BrowserLike | null;
  pages(): readonly PageLike[];
  serviceWorkers(): readonly unknown[];
  addInitScript(script: { readonly content: string }): Promise<unknown>;
  newCDPSession(pageOrFrame: never): Promise<unknown>;
  once(event: 'close', listener: () => void): unknown;
}

/** The part of Playwright's `Browser` that the guard uses. */
export interface BrowserLike {
  contexts(): readonly BrowserContextLike[];
  newBrowserCDPSession(): Promise<unknown>;
}
