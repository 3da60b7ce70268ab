import { createRequire } from 'node:module';

/** The part of robots-parser that is measured; its own types do not fit an ES module importing it. */
interface Robots {
  isAllowed(url: string, agent: string): boolean | undefined;
}

const load = createRequire(import.meta.url);
export const robotsParser = load('robots-parser') as (url: string, text: string) => Robots;
