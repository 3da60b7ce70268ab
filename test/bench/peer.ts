import { createRequire } from 'node:module';

/** The part of robots-parser that is measured; its own types do not fit an ES module importing it. */
interface Robots {
  isAllowed(url: string, agent?: string): boolean | undefined;
  isDisallowed(url: string, agent?: string): boolean;
  getMatchingLineNumber(url: string, agent?: string): number;
  getCrawlDelay(agent?: string): number | undefined;
  getSitemaps(): string[];
  getPreferredHost(): string | null;
}

const load = createRequire(import.meta.url);
export const robotsParser = load('robots-parser') as (url: string, text: string) => Robots;
