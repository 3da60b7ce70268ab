import { existsSync } from 'node:fs';
import { type Browser, chromium as playwright, type LaunchOptions } from 'playwright-core';
import { type Browser as PuppeteerBrowser, launch } from 'puppeteer-core';
import { describe } from 'vitest';

/** Where Chromium is, of a system that has it; `CHROMIUM_PATH` names another. */
export const chromiumPath: string | undefined = [
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((path) => path !== undefined && existsSync(path));

const ARGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Options of a Chromium that makes no requests by itself but for icons of pages. */
export function chromiumOptions(args: readonly string[] = []): { executablePath: string; args: string[] } {
  if (chromiumPath === undefined) throw new Error('There is no Chromium; CHROMIUM_PATH says where one is');
  return { executablePath: chromiumPath, args: [...ARGS, ...args] };
}

/** Starts Chromium with Playwright. */
export function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  return playwright.launch({ ...chromiumOptions(), ...options });
}

/** Starts Chromium with Puppeteer. */
export function launchPuppeteer(args: readonly string[] = []): Promise<PuppeteerBrowser> {
  return launch(chromiumOptions(args));
}

/** `chromium` of Playwright, for examples that take it as it comes. */
export const chromium = {
  launch: launchChromium,
  connectOverCDP: (url: string): Promise<Browser> => playwright.connectOverCDP(url),
};

/** Why tests that need Chromium are skipped here; never where `CI` is set, there they fail. */
export const skippedWithoutChromium: string | undefined =
  chromiumPath === undefined && process.env['CI'] === undefined
    ? 'skipped: there is no Chromium; CHROMIUM_PATH says where one is'
    : undefined;

/** A suite that needs Chromium. */
export function describeWithChromium(name: string, suite: () => void): void {
  if (skippedWithoutChromium === undefined) describe(name, suite);
  else describe.skip(`${name} (${skippedWithoutChromium})`, suite);
}
