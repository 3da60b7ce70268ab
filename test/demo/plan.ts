import type { Decision } from '../../src/core/decision/decision.ts';
import type { DemoSites } from './sites.ts';

/** One URL of the crawl, and what its site was scripted to deserve. */
export interface PlannedUrl {
  readonly site: keyof DemoSites;
  readonly path: string;
  readonly deserves: Deserved;
}

export interface Deserved {
  readonly decision: 'fetched 200' | 'fetched 429' | 'refused' | 'deferred by back-off';
  readonly reason: Decision['reason'];
  /** The rule that decides, as the file has it. */
  readonly line?: string;
}

export const plan: readonly PlannedUrl[] = [
  { site: 'hanging', path: '/', deserves: { decision: 'refused', reason: 'unreachable' } },
  { site: 'rules', path: '/', deserves: { decision: 'fetched 200', reason: 'no-rule' } },
  {
    site: 'rules',
    path: '/private/diary',
    deserves: { decision: 'refused', reason: 'rule', line: '5 Disallow: /private' },
  },
  {
    site: 'rules',
    path: '/private/open/',
    deserves: { decision: 'fetched 200', reason: 'rule', line: '6 Allow: /private/open' },
  },
  {
    site: 'rules',
    path: '/shortcut',
    deserves: { decision: 'refused', reason: 'rule', line: '5 Disallow: /private' },
  },
  { site: 'moved', path: '/', deserves: { decision: 'fetched 200', reason: 'no-rule' } },
  {
    site: 'moved',
    path: '/drafts/1',
    deserves: { decision: 'refused', reason: 'rule', line: '2 Disallow: /drafts' },
  },
  { site: 'moved', path: '/old', deserves: { decision: 'fetched 200', reason: 'no-rule' } },
  {
    site: 'moved',
    path: '/old-draft',
    deserves: { decision: 'refused', reason: 'rule', line: '2 Disallow: /drafts' },
  },
  { site: 'none', path: '/', deserves: { decision: 'fetched 200', reason: 'unavailable' } },
  // It answers 429, and names no time: what comes after it waits longer than this crawl does.
  { site: 'none', path: '/limited', deserves: { decision: 'fetched 429', reason: 'unavailable' } },
  { site: 'none', path: '/later', deserves: { decision: 'deferred by back-off', reason: 'unavailable' } },
  { site: 'busy', path: '/', deserves: { decision: 'refused', reason: 'unreachable' } },
  { site: 'broken', path: '/', deserves: { decision: 'refused', reason: 'unreachable' } },
];

/**
 * robots.txt requests that each site should see from the client: one, however many of its URLs are crawled. That
 * of `canonical` is the redirect of `moved`; its answer also serves for the pages `moved` redirects to.
 */
export const ROBOTS_REQUESTS_DESERVED = 1;
