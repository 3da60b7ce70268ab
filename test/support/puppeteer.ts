import { launchPuppeteer } from './chromium.ts';

/** Puppeteer with the Chromium of the system, for examples that import it as it comes. */
const puppeteer: { readonly launch: () => ReturnType<typeof launchPuppeteer> } = {
  launch: () => launchPuppeteer(),
};
export default puppeteer;
