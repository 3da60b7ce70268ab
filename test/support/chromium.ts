import { existsSync } from 'node:fs';
import { type Browser, chromium as playwright, type LaunchOptions } from 'playwright-core';
import {
  type Browser as PuppeteerBrowser,
  launch,
  type LaunchOptions as PuppeteerLaunchOptions,
} from 'puppeteer';
import { describe } from 'vitest';

const installed = (paths: readonly (string | undefined)[]): string | undefined =>
  paths.find((path) => path !== undefined && existsSync(path));

/** Where Chromium is, of a system that has it; `CHROMIUM_PATH` names another. */
const chromiumPath: string | undefined = installed([
  process.env['CHROMIUM_PATH'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]);

/**
 * The headless shell: Chromium without what only a window needs, which Playwright starts by default. A page takes a third of
 * the processor time there. It has neither settings nor extensions.
 */
const shellPath =
  installed([process.env['CHROMIUM_PATH'], '/usr/bin/chromium-headless-shell']) ?? chromiumPath;

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

export type WhichChromium = 'shell' | 'whole';

/** Options of a Chromium that makes no requests by itself but for icons of pages: of the shell, or the whole one. */
export function chromiumOptions(
  which: WhichChromium = 'shell',
  args: readonly string[] = [],
): { executablePath: string; args: string[] } {
  const executablePath = which === 'shell' ? shellPath : chromiumPath;
  if (executablePath === undefined) throw new Error('There is no Chromium; CHROMIUM_PATH says where one is');
  return { executablePath, args: [...ARGS, ...args] };
}

/** Starts Chromium with Playwright. */
export function launchChromium(options: LaunchOptions = {}): Promise<Browser> {
  return playwright.launch({ ...chromiumOptions(), ...options });
}

/** Starts Chromium with Puppeteer. */
export function launchPuppeteer(options: PuppeteerLaunchOptions = {}): Promise<PuppeteerBrowser> {
  return launch({ ...chromiumOptions(), ...options });
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
