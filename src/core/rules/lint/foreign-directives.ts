import { SPECIFICATIONS } from '../usage/usage-source.ts';

/** Directives outside RFC 9309 that occur in real files: their origin and status. */
const ORIGINS: Readonly<Record<string, string>> = {
  'crawl-delay':
    'a pause between two requests, in seconds; Bing, Common Crawl and Anthropic obey it, Google and (since 2018) Yandex do not; guards of canfetch with `pacing` keep it',
  'request-rate':
    'documents per time, from a proposal of 1996; few crawlers obey it; guards of canfetch with `pacing` keep it',
  'visit-time': 'hours (UTC) for visits, from a proposal of 1996; hardly any crawler obeys it',
  'cache-delay': 'a pause between requests for cached copies; no known crawler uses it',
  'revisit-after': 'a wish borrowed from an HTML meta element; no crawler obeys it',
  host: 'the preferred mirror of a site for Yandex, which dropped it in 2018',
  domain: 'the preferred domain of a site; no known crawler uses it',
  'clean-param':
    'query parameters that do not change a page, for Yandex; it merges URLs and disallows nothing',
  noindex: 'a directive that was never part of any standard; Google stopped reading it in 2019',
  nofollow: 'a directive that was never part of any standard; Google stopped reading it in 2019',
  noarchive: 'a directive that was never part of any standard',
  'content-usage': `an AIPREF usage preference (${SPECIFICATIONS['content-usage']}); it says what content may be used for, not who may fetch it`,
  'content-signal': `a usage preference (${SPECIFICATIONS['content-signal']}); it says what content may be used for, not who may fetch it`,
  'content-signals': 'another spelling of Content-Signal, which some parsers read',
  license: `the URL of a licence (${SPECIFICATIONS.license}); it says on what terms content may be used, not who may fetch it`,
  disallowaitraining:
    "from an expired Internet draft; Google's parser reads it as `Disallow`, which blocks its search crawler too",
  allowaitraining: "from an expired Internet draft; Google's parser reads it as `Allow`",
  'user-agent-purpose': 'from an expired Internet draft about purposes of crawling',
  'signature-agent': 'from a dropped Internet draft about signed agents',
  schemamap: 'the URL of a map of structured data; no known crawler uses it',
  'llms-txt': 'the URL of an `llms.txt` file; no specification says what it means here',
  'llm-policy': 'the URL of an `llms.txt` file; no specification says what it means here',
  'tdm-reservation': 'a reservation of text and data mining rights, which belongs in an HTTP header',
  'tdm-policy': 'a policy for text and data mining, which belongs in an HTTP header',
  allow: '`Allow`, which the convention of 1994 does not have',
};

/** The origin and status of a directive outside RFC 9309; `undefined` if it is unknown. */
export function originOfDirective(key: string): string | undefined {
  const name = key.toLowerCase();
  return Object.hasOwn(ORIGINS, name) ? ORIGINS[name] : undefined;
}
