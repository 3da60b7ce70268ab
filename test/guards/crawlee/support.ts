import type { SkippedRequest } from '../../../src/guards/crawlee/crawlee.ts';
import { vi } from 'vitest';
import { engineOf } from '../../../src/core/client/client-engine.ts';
import type { RobotsClient } from '../../../src/index.ts';
import { testClient } from '../../support/client.ts';
import { answer, type Handler, type Site } from '../../support/site.ts';
import { site as plainSite } from '../support.ts';
import { opened } from '../../support/opened.ts';

export const RULES =
  'User-agent: *\nDisallow: /private\nDisallow: /*?no\n\nUser-agent: OtherBot\nDisallow: /';
export const because = 'the owner asked for a copy';
export const robots = { ignore: true, because } as const;
const html = { 'content-type': 'text/html' };

/** Answers `/to?<location>` with that redirect, the rest with a page of `links`. */
export function site(links: readonly string[] = [], robotsTxt?: Handler): Promise<Site> {
  return plainSite((request, response) => {
    const url = request.url ?? '';
    if (url === '/robots.txt') {
      if (robotsTxt === undefined) answer(response, { body: RULES });
      else robotsTxt(request, response);
    } else if (url.startsWith('/to?')) {
      answer(response, { status: 302, headers: { location: url.slice('/to?'.length), 'set-cookie': 'a=1' } });
    } else {
      const body = links.map((href) => `<a href="${href}">${href}</a>`).join('\n');
      answer(response, { headers: html, body: `<title>a page</title>${body}` });
    }
  });
}

/** Closes `each` after the test. */
export function closing<Each extends AsyncDisposable>(each: Each): Each {
  opened(each);
  return each;
}

export function client(): RobotsClient {
  return closing(testClient().client);
}

/** What a site was asked for, but for its rules, and its icon: a browser asks for that when it likes. */
export const pagesOf = ({ requests }: Site): string[] =>
  requests.map(({ url }) => url).filter((url) => url !== '/robots.txt' && url !== '/favicon.ico');

/** What became of the requests of a crawl. */
export function record(): {
  readonly handled: string[];
  readonly skipped: SkippedRequest[];
  readonly failed: unknown[];
  readonly options: {
    readonly maxConcurrency: number;
    readonly requestHandler: (context: { readonly request: { readonly url: string } }) => Promise<void>;
    readonly onSkippedRequest: (skipped: SkippedRequest) => void;
    readonly failedRequestHandler: (context: unknown, error: Error) => void;
  };
} {
  const handled: string[] = [];
  const skipped: SkippedRequest[] = [];
  const failed: unknown[] = [];
  return {
    handled,
    skipped,
    failed,
    options: {
      // One after another, in the order they were added.
      maxConcurrency: 1,
      requestHandler: async ({ request }) => void handled.push(request.url),
      onSkippedRequest: (each) => void skipped.push(each),
      failedRequestHandler: (_, error) => void failed.push(error),
    },
  };
}

/** The URLs for which guards acquire permits from now on. */
export function permitsOf(client: RobotsClient): () => string[] {
  const { mock } = vi.spyOn(engineOf(client).pacing, 'acquire');
  return () => mock.calls.map(([{ url }]) => url);
}
