/** A page of Playwright, as far as the guard reads it. */
export interface PageLike {
  context(): BrowserContextLike;
  frames(): readonly object[];
  once(event: 'close', listener: () => void): unknown;
}

/** A browser context of Playwright, as far as the guard reads it. */
export interface BrowserContextLike {
  browser(): BrowserLike | null;
  pages(): readonly PageLike[];
  serviceWorkers(): readonly unknown[];
  addInitScript(script: { readonly content: string }): Promise<unknown>;
  newCDPSession(pageOrFrame: never): Promise<unknown>;
  once(event: 'close', listener: () => void): unknown;
}

/** A browser of Playwright, as far as the guard reads it. */
export interface BrowserLike {
  contexts(): readonly BrowserContextLike[];
  newBrowserCDPSession(): Promise<unknown>;
}
