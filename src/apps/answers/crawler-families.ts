import type { RobotsFile } from '../../core/rules/index.ts';
import type { ReportedDecision } from './verdict.ts';

/** What the owner of crawlers says about files that do not name them. RFC 9309 knows a crawler's own group and `*` alone. */
interface CrawlerFamily {
  readonly owner: string;
  /** In lower case. One that ends in `*` is the beginning of names. */
  readonly crawlers: readonly string[];
  /** The crawler whose group they obey before that of `*`. */
  readonly obeys?: string;
  /** Whether the group of `*` does not hold for them. */
  readonly ignoresStar?: true;
  /** The owner's page that says so. */
  readonly page: string;
}

const FAMILIES: readonly CrawlerFamily[] = [
  {
    owner: 'Google',
    crawlers: ['googlebot-image', 'googlebot-news', 'googlebot-video'],
    obeys: 'Googlebot',
    page: 'https://developers.google.com/crawling/docs/crawlers-fetchers/google-common-crawlers',
  },
  {
    owner: 'Google',
    crawlers: ['adsbot-google', 'adsbot-google-mobile', 'apis-google', 'mediapartners-google'],
    ignoresStar: true,
    page: 'https://developers.google.com/crawling/docs/crawlers-fetchers/google-special-case-crawlers',
  },
  {
    owner: 'Bing',
    crawlers: ['bingbot'],
    obeys: 'msnbot',
    page: 'https://blogs.bing.com/webmaster/2012/05/03/to-crawl-or-not-to-crawl-that-is-bingbots-question',
  },
  {
    owner: 'Yandex',
    crawlers: ['yandex*'],
    obeys: 'Yandex',
    page: 'https://yandex.com/support/webmaster/en/robot-workings/user-agent',
  },
  {
    owner: 'Apple',
    crawlers: ['applebot'],
    obeys: 'Googlebot',
    page: 'https://support.apple.com/en-us/119829',
  },
];

/** What the owner of a crawler says where the file does not name it, and the list of agents to ask for. */
export function familyNote(
  { agent, group, reason }: ReportedDecision,
  file: RobotsFile | undefined,
): string | undefined {
  if (file === undefined || reason === 'robots-txt' || (group !== undefined && group.agent !== '*'))
    return undefined;
  const name = agent.toLowerCase();
  const isOf = (crawler: string): boolean =>
    crawler.endsWith('*') ? name.startsWith(crawler.slice(0, -1)) : name === crawler;
  const family = FAMILIES.find(({ crawlers }) => crawlers.some(isOf));
  if (family === undefined) return undefined;
  const { owner, obeys, ignoresStar, page } = family;
  if (ignoresStar === true && group !== undefined)
    return `by its owner's word ${agent} ignores the group of "*": only one that names it holds (${owner}, ${page})`;
  if (obeys === undefined || name === obeys.toLowerCase()) return undefined;
  if (file.rulesetFor(obeys).scope !== 'named') return undefined;
  return `by its owner's word ${agent} obeys the group of ${obeys} here: ask for both, ${agent} first (${owner}, ${page})`;
}
