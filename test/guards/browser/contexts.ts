import type { Browser } from 'playwright-core';
import type { Browser as PuppeteerBrowser } from 'puppeteer';
import { afterAll, beforeAll } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../../src/guards/browser/puppeteer.ts';
import {
  chromiumOptions,
  describeWithChromium,
  launchChromium,
  launchPuppeteer,
  type WhichChromium,
} from '../../support/chromium.ts';
import type { RobotsClient } from '../../../src/index.ts';
import { opened } from '../../support/opened.ts';
import { scriptedClient } from '../support.ts';

/** The part of a page of both libraries that tests of both use. */
export interface Page {
  url(): string;
  content(): Promise<string>;
  goto(url: string, options?: { readonly timeout: number }): Promise<unknown>;
  goBack(): Promise<unknown>;
  reload(options?: { readonly timeout: number }): Promise<unknown>;
  click(selector: string): Promise<void>;
  waitForFunction(script: string): Promise<unknown>;
  close(): Promise<void>;
  evaluate(script: string): Promise<unknown>;
}

export interface Guarding {
  errorOf(page: Page): Promise<unknown>;
  ignore(page: Page, because: string): Promise<void>;
  dispose(): Promise<void>;
}

export interface GuardedContext {
  newPage(): Promise<Page>;
  close(): Promise<void>;
  readonly guards: readonly Guarding[];
  cookies(): Promise<readonly { readonly name: string }[]>;
  /** Guards it once more. */
  guard(client: RobotsClient): Promise<unknown>;
}

/** A context with a guard for each of `options`, all of one client. */
export type OpenContext = (
  robots: RobotsClient,
  options: readonly GuardContextOptions[],
) => Promise<GuardedContext>;

/** A suite over a context of Playwright, and over one of Puppeteer, each in a browser of its own. */
export function inBothBrowsers(
  name: string,
  suite: (open: OpenContext) => void,
  which: WhichChromium = 'shell',
): void {
  // Frames of other sites are in processes of their own, as in browsers that people use.
  const launchOptions = () => chromiumOptions(which, ['--site-per-process']);
  describeWithChromium(`${name} in Playwright`, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium(launchOptions());
    });
    afterAll(() => browser.close());
    suite(async (robots, options) => {
      const context = await browser.newContext();
      return withGuards(context, options, (each, client = robots) => guardContext(context, client, each));
    });
  });

  describeWithChromium(`${name} in Puppeteer`, () => {
    let browser: PuppeteerBrowser;
    beforeAll(async () => {
      browser = await launchPuppeteer(launchOptions());
    });
    afterAll(() => browser.close());
    suite(async (robots, options) => {
      const context = await browser.createBrowserContext();
      return withGuards(context, options, (each, client = robots) => guardPuppeteer(context, client, each));
    });
  });
}

/** The libraries' types of pages differ in more than these tests use. */
async function withGuards(
  context: {
    newPage(): Promise<unknown>;
    close(): Promise<void>;
    cookies(): Promise<readonly { readonly name: string }[]>;
  },
  options: readonly GuardContextOptions[],
  guardWith: (options?: GuardContextOptions, client?: RobotsClient) => Promise<unknown>,
): Promise<GuardedContext> {
  const guards: unknown[] = [];
  for (const each of options) guards.push(await guardWith(each));
  return {
    newPage: async () => (await context.newPage()) as Page,
    close: () => context.close(),
    cookies: () => context.cookies(),
    guard: (client) => guardWith({}, client),
    guards: guards as readonly Guarding[],
  };
}

/** A page of a context with one guard, which is closed after the test. */
export async function guardedPage(
  open: OpenContext,
  options: GuardContextOptions = {},
): Promise<{ page: Page; guard: Guarding; context: GuardedContext }> {
  const context = await open(scriptedClient(), [options]);
  opened({ [Symbol.asyncDispose]: () => context.close() });
  return { page: await context.newPage(), guard: context.guards[0]!, context };
}
