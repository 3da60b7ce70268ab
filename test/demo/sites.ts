import { type Answer, type Script, type Site, startSite } from '../support/site.ts';

/** The sites of the demo, each good or bad in a way of its own. */
export interface DemoSites {
  /** Serves rules. */
  readonly rules: Site;
  /** Its robots.txt redirects to that of `canonical`. */
  readonly moved: Site;
  readonly canonical: Site;
  /** Has no robots.txt, and a page that answers 429 without Retry-After. */
  readonly none: Site;
  /** Answers 429 with Retry-After. */
  readonly busy: Site;
  /** Answers 503. */
  readonly broken: Site;
  /** Takes the request and never answers. */
  readonly hanging: Site;
}

export const RETRY_AFTER_SECONDS = 120;

const page: Answer = { headers: { 'content-type': 'text/html' }, body: '<p>A page.</p>' };
const text = (body: string): Answer => ({ headers: { 'content-type': 'text/plain' }, body });
const redirect = (status: number, location: string): Answer => ({ status, headers: { location } });

/** Starts all of them; `close` stops all of them. */
export async function startSites(): Promise<{ readonly sites: DemoSites; close(): Promise<void> }> {
  const started: Site[] = [];
  const start = async (plan: Parameters<typeof startSite>[0]): Promise<Site> => {
    const site = await startSite(plan);
    started.push(site);
    return site;
  };
  const canonical = await start(canonicalScript);
  const sites: DemoSites = {
    canonical,
    rules: await start(rulesScript),
    moved: await start(movedScript(canonical)),
    none: await start({ '/': page, '/limited': { status: 429 }, '/later': page }),
    busy: await start({
      '/robots.txt': { status: 429, headers: { 'retry-after': String(RETRY_AFTER_SECONDS) } },
      '/': page,
    }),
    broken: await start({ '/robots.txt': { status: 503 }, '/': page }),
    hanging: await start(() => undefined),
  };
  return {
    sites,
    close: async () => {
      await Promise.all(started.map((site) => site.close()));
    },
  };
}

const rulesScript: Script = {
  '/robots.txt': text(
    [
      'User-agent: *',
      'Disallow: /',
      '',
      'User-agent: DemoBot',
      'Disallow: /private',
      'Allow: /private/open',
    ].join('\n'),
  ),
  '/': page,
  '/private/diary': page,
  '/private/open/': page,
  '/shortcut': redirect(302, '/private/diary'),
};

const canonicalScript: Script = {
  '/robots.txt': text('User-agent: DemoBot\nDisallow: /drafts\n'),
  '/new': page,
  '/drafts/2': page,
};

const movedScript = (canonical: Site): Script => ({
  '/robots.txt': redirect(301, canonical.url('/robots.txt')),
  '/': page,
  '/drafts/1': page,
  '/old': redirect(301, canonical.url('/new')),
  '/old-draft': redirect(301, canonical.url('/drafts/2')),
});
