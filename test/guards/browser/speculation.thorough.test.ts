import { expect, it } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { answer, type Site } from '../../support/site.ts';
import { site } from '../support.ts';
import { guardedPage, inBothBrowsers, type OpenContext } from './contexts.ts';

/** A page that makes the browser load `/private` ahead. */
interface SpeculatingPage {
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

/** Pages whose rules never reach the browser. */
const speculatingPages: Readonly<Record<string, SpeculatingPage>> = {
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

/** Serves `page` at `/page`. */
function siteOf({ headers, body = '' }: SpeculatingPage): Promise<Site> {
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

const privateRequests = ({ requests }: Site): number =>
  requests.filter(({ url }) => url.startsWith('/private')).length;

/** Visits the page, gives the browser time to load ahead, and goes where it must not. Returns what reached the site. */
async function privateRequestsOf(open: OpenContext, speculating: SpeculatingPage): Promise<number> {
  const server = await siteOf(speculating);
  const { page, guard } = await guardedPage(open);
  await page.goto(server.url('/page'));
  // What is loaded ahead is sent before these responses.
  for (let round = 0; round < 5; round++) {
    await page.evaluate(`fetch('/after/${round}').then((response) => response.text())`);
  }
  await page.evaluate("void (location.href = '/private')");
  // A page that was loaded ahead would be shown without a question.
  await eventually(async () =>
    expect(await guard.errorOf(page)).toMatchObject({ code: 'ERR_ROBOTS_DISALLOWED' }),
  );
  return privateRequests(server);
}

function speculation(open: OpenContext): void {
  it.each(Object.entries(speculatingPages))('loads nothing ahead by %s', async (_name, page) => {
    expect(await privateRequestsOf(open, page)).toBe(0);
  });

  it('leaves the rest of a page whose header field it takes away as it is', async () => {
    const server = await siteOf({
      headers: () => ({ 'speculation-rules': '"/rules.json"', 'x-kept': 'yes' }),
      body: '<p id="kept">text</p>',
    });
    const { page, context } = await guardedPage(open);
    await page.goto(server.url('/page'));
    expect(await page.evaluate('document.querySelector("#kept").textContent')).toBe('text');
    expect(new Set((await context.cookies()).map(({ name }) => name))).toEqual(new Set(['a', 'b']));
    expect(server.requests.map(({ url }) => url)).not.toContain('/rules.json');
  });

  it('leaves failures and redirects as they are', async () => {
    const server = await site(({ url }, response) => {
      const to = url === '/to';
      const headers = {
        'content-type': 'text/html',
        'set-cookie': 'a=1',
        ...(to ? { location: '/page' } : {}),
      };
      answer(response, { status: to ? 302 : 200, headers });
    });
    const { page, context } = await guardedPage(open, { subresources: true });
    await page.goto(server.url('/to'));
    expect(await page.evaluate('location.pathname')).toBe('/page');
    expect((await context.cookies()).map(({ name }) => name)).toEqual(['a']);
    await server.close();
    await expect(page.goto(server.url('/gone'))).rejects.toThrow('ERR_CONNECTION_REFUSED');
  });

  it('turns off FedCM and payment requests when it is told to see what pages load, and only then', async () => {
    const script = `(async () => {
      const url = new URL('/private/pay', location).href;
      const total = { label: 'all', amount: { currency: 'EUR', value: '1' } };
      const pay = (window) => new window.PaymentRequest([{ supportedMethods: url }], { total }).canMakePayment();
      const frame = document.body.appendChild(document.createElement('iframe')).contentWindow;
      const identity = { providers: [{ configURL: url, clientId: 'x' }] };
      const tries = [() => pay(window), () => pay(frame), () => navigator.credentials.get({ identity })];
      const named = async (each) => each().then(() => 'done', ({ name }) => name);
      return (await Promise.all(tries.map(async (each) => named(async () => each())))).join();
    })()`;
    const server = await siteOf({
      headers: () => ({ 'permissions-policy': 'payment=*, identity-credentials-get=*' }),
    });
    const url = server.url('/page').replace('127.0.0.1', 'localhost');
    const { page: watched } = await guardedPage(open, { subresources: true });
    await watched.goto(url);
    expect(await watched.evaluate(script)).toBe('SecurityError,SecurityError,NotAllowedError');
    expect(privateRequests(server)).toBe(0);
    const { page: other } = await guardedPage(open);
    await other.goto(url);
    expect(await other.evaluate('document.featurePolicy.allowsFeature("payment")')).toBe(true);
  });

  it('sees what a page preloads and reports when it is told to see what pages load', async () => {
    const body = `<link rel="preload" as="fetch" crossorigin href="/private/preload">
      <a href="#" ping="/private/ping"></a><script>navigator.sendBeacon('/private/beacon');
      document.querySelector('a').click()</script>`;
    const server = await siteOf({ body });
    const { page } = await guardedPage(open, { subresources: true });
    await page.goto(server.url('/page'));
    await page.evaluate("fetch('/after').then((response) => response.text())");
    expect(privateRequests(server)).toBe(0);
  });
}

inBothBrowsers('a guarded page', speculation);
