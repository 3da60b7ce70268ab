/**
 * Takes the place of the parser (`src/util/robotsTxtParser.ts`) and the matcher (`src/discovery/robotsTxt.ts`) in `packages/core`
 * of unlighthouse d3a23ad9. `mergeRobotsTxtConfig` keeps the parsed file as `scanner.robotsFile`, and the worker asks
 * `isPathAllowed`. Keys in any case, trailing comments and `%3c` are then read as RFC 9309 says.
 */
import { parseRobots, type RobotsFile } from 'canfetch/rules';

interface ScannerConfig {
  readonly scanner: { robotsFile?: RobotsFile; sitemap?: boolean | string[] };
  readonly lighthouseOptions?: { readonly emulatedUserAgent?: string };
}

export const parseRobotsTxt = (text: string): RobotsFile => parseRobots(text);

export function mergeRobotsTxtConfig({ scanner }: ScannerConfig, file: RobotsFile): void {
  scanner.robotsFile = file;
  const sitemaps = file.sitemaps.map(({ url }) => url);
  const own = Array.isArray(scanner.sitemap) && scanner.sitemap.length > 0;
  if (scanner.sitemap !== false && sitemaps.length > 0 && !own) scanner.sitemap = [...new Set(sitemaps)];
}

export function isPathAllowed(path: string, { scanner, lighthouseOptions }: ScannerConfig): boolean {
  const agent = lighthouseOptions?.emulatedUserAgent ?? 'unlighthouse';
  return scanner.robotsFile?.check(path, agent).allowed ?? true;
}
