import { RobotsInvalidOptionsError } from '../../core/base/index.ts';
import type { BrowserContextGuard } from '../browser/context-guard.ts';
import type * as playwright from '../browser/playwright.ts';
import type * as puppeteer from '../browser/puppeteer.ts';

/** A page of either library that Crawlee has. */
export type CrawledPage = playwright.PageLike | puppeteer.PageLike;

/** The guard of one page. */
export interface PageGuard {
  /** The error that blocked the last navigation of the page. */
  errorOfPage(): Promise<unknown>;
  /** Stops checking its navigations. */
  ignore(because: string): Promise<void>;
}

/** Guards a context of either library. */
export interface ContextGuards {
  playwright(context: playwright.BrowserContextLike): Promise<playwright.ContextGuard>;
  puppeteer(context: puppeteer.BrowserContextLike): Promise<puppeteer.ContextGuard>;
}

/** The guards of the contexts that the pages of a crawler are in. Each context is guarded once. */
export class PageGuards {
  readonly #playwright: (context: playwright.BrowserContextLike) => Promise<playwright.ContextGuard>;
  readonly #puppeteer: (context: puppeteer.BrowserContextLike) => Promise<puppeteer.ContextGuard>;

  constructor(guards: ContextGuards) {
    this.#playwright = oncePerContext((context) => guards.playwright(context));
    this.#puppeteer = oncePerContext((context) => guards.puppeteer(context));
  }

  /** Guards the context of a page. */
  async of(page: CrawledPage): Promise<PageGuard> {
    if ('context' in page && typeof page.context === 'function') {
      return pageGuard(await this.#playwright(page.context()), page);
    }
    if ('browserContext' in page && typeof page.browserContext === 'function') {
      return pageGuard(await this.#puppeteer(page.browserContext()), page);
    }
    throw new RobotsInvalidOptionsError(
      'Expected the pages of the crawler to be those of Playwright or Puppeteer: redirects of others cannot be checked',
    );
  }
}

function oncePerContext<Context extends object, Guarded>(
  guard: (context: Context) => Promise<Guarded>,
): (context: Context) => Promise<Guarded> {
  const known = new WeakMap<Context, Promise<Guarded>>();
  return (context) => {
    const guarded = known.get(context) ?? guard(context);
    known.set(context, guarded);
    return guarded;
  };
}

function pageGuard<Page>(guard: BrowserContextGuard<Page>, page: Page): PageGuard {
  return { errorOfPage: () => guard.errorOf(page), ignore: (because) => guard.ignore(page, because) };
}
