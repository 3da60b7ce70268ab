import { expect } from 'vitest';
import { guardContext, type GuardContextOptions } from '../../../src/guards/browser/playwright.ts';
import { guardContext as guardPuppeteer } from '../../../src/guards/browser/puppeteer.ts';
import {
  chromiumOptions,
  launchChromium,
  launchPuppeteer,
  type WhichChromium,
} from '../../support/chromium.ts';
import { eventually } from '../../support/eventually.ts';
import { answer, type Site } from '../../support/site.ts';
import { ScriptedClient, site } from '../support.ts';

/** A page of a guarded context of either library. */
export interface GuardedPage extends AsyncDisposable {
  visit(url: string): Promise<unknown>;
  run(script: string): Promise<unknown>;
  error(): Promise<unknown>;
  cookies(): Promise<readonly { readonly name: string }[]>;
}

export interface OpenBrowser extends AsyncDisposable {
  open(options?: GuardContextOptions): Promise<GuardedPage>;
}

export const libraries: Readonly<Record<string, (which: WhichChromium) => Promise<OpenBrowser>>> = {
  async Playwright(which) {
    const browser = await launchChromium(chromiumOptions(which));
    return {
      async open(options) {
        const context = await browser.newContext();
        const guard = await guardContext(context, new ScriptedClient(), options);
        const page = await context.newPage();
        return {
          visit: (url) => page.goto(url),
          run: (script) => page.evaluate(script),
          error: () => guard.errorOf(page),
          cookies: () => context.cookies(),
          [Symbol.asyncDispose]: () => context.close(),
        };
      },
      [Symbol.asyncDispose]: () => browser.close(),
    };
  },
  async Puppeteer(which) {
    const browser = await launchPuppeteer(chromiumOptions(which));
    return {
      async open(options) {
        const context = await browser.createBrowserContext();
        const guard = await guardPuppeteer(context, new ScriptedClient(), options);
        const page = await context.newPage();
        return {
          visit: (url) => page.goto(url),
          run: (script) => page.evaluate(script),
          error: () => guard.errorOf(page),
          cookies: () => context.cookies(),
          [Symbol.asyncDispose]: () => context.close(),
        };
      },
      [Symbol.asyncDispose]: () => browser.close(),
    };
  },
};

/** A page that makes the browser load `/private` ahead. */
export interface SpeculatingPage {
  readonly headers?: (origin: string) => Readonly<Record<string, string>>;
  readonly body?: string;
}

const rules = (kind = 'prefetch', origin = ''): string =>
  JSON.stringify({ [kind]: [{ source: 'list', urls: [`${origin}/private`], eagerness: 'immediate' }] });
const dataUrl = (kind: string) => (origin: string) => ({
  'speculation-rules': `"data:application/speculationrules+json,${encodeURIComponent(rules(kind, origin))}"`,
});
const inline = `<script type="speculationrules">${rules()}</script>`;
/** Defines `made(text, document)`, which makes a script of rules. */
const MADE = `const made = (text = ${JSON.stringify(rules())}, of = document) =>
  Object.assign(of.createElement('script'), { type: 'speculationrules', textContent: text });`;
const scripted = (script: string): SpeculatingPage => ({
  body: `<div id="host"></div><script>{ ${MADE} ${script} }</script>`,
});

/** Pages whose rules are held back without the setting of the browser, too. */
export const pagesHeldByScript: Readonly<Record<string, SpeculatingPage>> = {
  'rules in the header field, to prefetch': { headers: dataUrl('prefetch') },
  'rules in the header field, to prerender': { headers: dataUrl('prerender') },
  'a link to prefetch': { body: '<link rel="prefetch" href="/private">' },
  'a Link field to prefetch': { headers: () => ({ link: '</private>; rel=prefetch' }) },
  'rules in the document': { body: inline },
  'rules in an SVG script': { body: `<svg>${inline}</svg>` },
  'rules that are written into a script of the document': scripted(
    `const late = made(''); document.head.append(late); setTimeout(() => late.append(${JSON.stringify(rules())}))`,
  ),
  'rules in a script that had another type': scripted(
    `const late = made(''); late.type = 'x'; document.head.append(late);
     setTimeout(() => { late.type = 'speculationrules'; late.append(${JSON.stringify(rules())}) })`,
  ),
  'rules in a closed shadow tree': scripted("host.attachShadow({ mode: 'closed' }).append(made())"),
  "rules in a popup's first document": scripted(
    "const popup = open('', 'popup'); popup.document.head.append(made(undefined, popup.document))",
  ),
  "rules in a popup's first document, opened by the document": scripted(
    "const popup = document.open('', 'popup', ''); popup.document.head.append(made(undefined, popup.document))",
  ),
  'a page that replaces Element.prototype.remove': scripted(
    'Element.prototype.remove = Node.prototype.removeChild = () => undefined; document.head.append(made())',
  ),
  'a page that shadows script.type and localName': scripted(
    `const script = made(); Object.defineProperty(script, 'type', { get: () => '' });
     Object.defineProperty(script, 'localName', { get: () => 'p' }); document.head.append(script)`,
  ),
  'a page that replaces everything that a sweep may use': scripted(
    `const none = () => null; const list = () => []; const { defineProperty, getOwnPropertyDescriptor } = Object;
     const replaced = [];
     const replace = (holder, name, given) => {
       replaced[replaced.length] = { holder, name, was: getOwnPropertyDescriptor(holder, name) };
       defineProperty(holder, name, { configurable: true, ...given });
     };
     const inner = document.createElement('p'); inner.append(made());
     const { prototype: element } = Element; const { prototype: observer } = MutationObserver;
     replace(RegExp.prototype, 'test', { value: none }); replace(RegExp.prototype, 'exec', { value: none });
     replace(String.prototype, 'toLowerCase', { value: none }); replace(element, 'getAttribute', { value: none });
     replace(element, 'querySelectorAll', { value: list }); replace(element, 'remove', { value: none });
     replace(observer, 'observe', { value: none }); replace(observer, 'takeRecords', { value: list });
     replace(MutationRecord.prototype, 'addedNodes', { get: list });
     replace(NodeList.prototype, 'length', { get: none });
     replace(Array.prototype, Symbol.iterator, { value: list }); replace(Reflect, 'apply', { value: none });
     replace(Function.prototype, 'call', { value: none }); replace(Function.prototype, 'apply', { value: none });
     host.attachShadow({ mode: 'open' }).append(inner);
     document.head.append(made());
     // Playwright uses some of these, too.
     setTimeout(() => {
       for (let index = 0; index < replaced.length; index++) {
         defineProperty(replaced[index].holder, replaced[index].name, replaced[index].was);
       }
     })`,
  ),
};

/** What only the setting of the browser holds back. */
export const pagesHeldBySetting: Readonly<Record<string, SpeculatingPage>> = {
  'rules in a declarative shadow tree': {
    body: `<div><template shadowrootmode="closed">${inline}</template></div>`,
  },
  'rules of a page that is loaded into a popup': scripted("open('/rules')"),
  'rules of a blob in a popup': scripted(
    `open(URL.createObjectURL(new Blob([made(${JSON.stringify(rules())}.replace('/p', location.origin + '/p')).outerHTML],
       { type: 'text/html' })))`,
  ),
  'rules that are added while others are removed': scripted(
    `let first = true; new MutationObserver(() => { if (first) document.head.append(made()); first = false })
       .observe(document, { childList: true, subtree: true }); document.head.append(made('{}'))`,
  ),
};

/** Serves `page` at `/page`. */
export function siteOf({ headers, body = '' }: SpeculatingPage): Promise<Site> {
  return site((request, response) => {
    const isPage = request.url === '/page';
    const fields = isPage ? headers?.(`http://${request.headers.host ?? ''}`) : undefined;
    const html = request.url === '/rules' ? inline : isPage ? body : '';
    answer(response, {
      headers: { ...fields, 'content-type': 'text/html', 'set-cookie': ['a=1', 'b=2; HttpOnly'] },
      body: `<!doctype html><title>page</title><body>${html}`,
    });
  });
}

export const privateRequests = ({ requests }: Site): number =>
  requests.filter(({ url }) => url.startsWith('/private')).length;

/** Visits the page, gives the browser time to load ahead, and goes where it must not. Returns what reached the site. */
export async function privateRequestsOf(browser: OpenBrowser, speculating: SpeculatingPage): Promise<number> {
  const server = await siteOf(speculating);
  await using page = await browser.open();
  await page.visit(server.url('/page'));
  // What is loaded ahead is sent before these responses.
  for (let round = 0; round < 5; round++) {
    await page.run(`fetch('/after/${round}').then((response) => response.text())`);
  }
  await page.run("void (location.href = '/private')");
  // A page that was loaded ahead would be shown without a question.
  await eventually(async () => expect(await page.error()).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' }));
  return privateRequests(server);
}
