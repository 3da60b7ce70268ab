import type { Browser } from 'playwright-core';
import type { Browser as PuppeteerBrowser } from 'puppeteer';
import { afterAll, beforeAll } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../../src/guards/browser/puppeteer.ts';
import type { RobotsClient } from '../../../src/index.ts';
import { describeWithChromium, launchChromium, launchPuppeteer } from '../../support/chromium.ts';

/** The part of a page of both libraries that tests of both use. */
export interface Page {
  goto(url: string, options?: { readonly timeout: number }): Promise<unknown>;
  reload(options?: { readonly timeout: number }): Promise<unknown>;
  close(): Promise<void>;
  evaluate(script: string): Promise<unknown>;
}

export interface Guarding {
  errorOf(page: Page): Promise<unknown>;
  dispose(): Promise<void>;
}

interface GuardedContext {
  newPage(): Promise<Page>;
  close(): Promise<void>;
  readonly guards: readonly Guarding[];
}

/** A context with a guard for each of `options`, all of one client. */
export type OpenContext = (
  robots: RobotsClient,
  options: readonly GuardContextOptions[],
) => Promise<GuardedContext>;

/** A suite over a context of Playwright, and over one of Puppeteer, each in a browser of its own. */
export function inBothBrowsers(name: string, suite: (open: OpenContext) => void): void {
  describeWithChromium(`${name} in Playwright`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium();
    });
    afterAll(() => browser.close());
    suite(async (robots, options) => {
      const context = await browser.newContext();
      const guards: unknown[] = [];
      for (const each of options) guards.push(await guardContext(context, robots, each));
      return withGuards(context, guards);
    });
  });

  describeWithChromium(`${name} in Puppeteer`, () => {
    let browser: PuppeteerBrowser;
    beforeAll(async () => {
      browser = await launchPuppeteer();
    });
    afterAll(() => browser.close());
    suite(async (robots, options) => {
      const context = await browser.createBrowserContext();
      const guards: unknown[] = [];
      for (const each of options) guards.push(await guardPuppeteer(context, robots, each));
      return withGuards(context, guards);
    });
  });
}

/** The libraries' types of pages differ in more than these tests use. */
function withGuards(
  context: { newPage(): Promise<unknown>; close(): Promise<void> },
  guards: readonly unknown[],
): GuardedContext {
  return {
    newPage: async () => (await context.newPage()) as Page,
    close: () => context.close(),
    guards: guards as readonly Guarding[],
  };
}
