import { describe, expect, it } from 'vitest';
import {
  detectSuspect,
  isBotChallenge,
  SUSPECT_BYTES,
  type Suspect,
} from '../../../src/core/lifecycle/challenge-pages.ts';

interface Answer {
  readonly status?: number;
  readonly fields?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Path of the last hop, when there was one. */
  readonly redirectedTo?: string;
  /** Path of the only hop. */
  readonly at?: string;
}

function suspect({
  status = 200,
  fields = {},
  body = '',
  redirectedTo,
  at = '/robots.txt',
}: Answer): Suspect | undefined {
  return detectSuspect({
    status,
    field: (name) => fields[name],
    start: typeof body === 'string' ? new TextEncoder().encode(body) : body,
    finalUrl: `https://example.com${redirectedTo ?? at}`,
    hops: redirectedTo === undefined ? 0 : 1,
  });
}

/** Joins bytes and text. */
function bytes(...parts: readonly (number | string)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'number' ? Buffer.of(part) : Buffer.from(part))));
}

/** A page of the kind, with the part of it that shows the kind. */
const page = (head: string, body = ''): string =>
  `<!DOCTYPE html>\r\n<html lang="en"><head>${head}</head><body>${body}</body></html>`;

const cloudflare = page(
  '<title>Just a moment...</title><meta name="robots" content="noindex,nofollow">',
  "<noscript>Enable JavaScript and cookies to continue</noscript><script>(function(){window._cf_chl_opt = {cvId: '3'};}());</script>",
);
const anubis = page(
  "<title>Making sure you're not a bot!</title>",
  '<script id="anubis_challenge" type="application/json">{"rules":{"algorithm":"fast"}}</script>',
);
const dataDome = page(
  '<title>example.com</title>',
  "<script>var dd={'rt':'c','cid':'A','host':'geo.captcha-delivery.com'}</script>",
);
const imperva =
  '<html style="height:100%"><head></head><body><iframe src="/_Incapsula_Resource?SWUDNSAI=9&xinfo=3">Request unsuccessful. Incapsula incident ID: 7</iframe></body></html>';
const f5 = '<html><head><title>Request Rejected</title></head><body>Your support ID is: 1778</body></html>';
const akamai =
  "<HTML><HEAD>\n<TITLE>Access Denied</TITLE>\n</HEAD><BODY>\n<H1>Access Denied</H1>\n \nYou don't have permission to access this.</BODY></HTML>";
const cloudflareBlock = page(
  '<title>Attention Required! | Cloudflare</title>',
  '<h1>Sorry, you have been blocked</h1>',
);
const loginForm = page(
  '<title>Sign in</title>',
  '<form><input name="user"><input type="password" name="p"></form>',
);
const application = page(
  '<meta charset="utf-8"><title>Shop</title><script type="module" src="/assets/index-3f9a.js"></script>',
  '<div id="root"></div>',
);
const home = page(
  '<title>Example</title><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>' +
    '<script src="https://www.google.com/recaptcha/api.js"></script>',
  '<h1>Welcome</h1>',
);

const ANSWERS: readonly (readonly [what: string, Answer, Suspect | undefined])[] = [
  ['Cloudflare, by its field', { status: 403, fields: { 'cf-mitigated': 'challenge' } }, 'challenge'],
  ['Vercel, denied', { status: 403, fields: { 'x-vercel-mitigated': 'deny' } }, 'blocked'],
  ['AWS WAF, without a body', { status: 202, fields: { 'x-amzn-waf-action': 'challenge' } }, 'challenge'],
  ['AWS WAF, captcha', { status: 405, fields: { 'x-amzn-waf-action': 'CAPTCHA ' } }, 'challenge'],
  ['Anubis, 200', { body: anubis }, 'challenge'],
  [
    'a page of an unknown gatekeeper with 202',
    { status: 202, body: page('<title>One moment</title>') },
    'challenge',
  ],
  ['DataDome', { status: 403, body: dataDome }, 'challenge'],
  ['Imperva', { body: imperva }, 'challenge'],
  ['F5', { body: f5 }, 'blocked'],
  ['Akamai', { status: 403, body: akamai }, 'blocked'],
  ["Cloudflare's block page", { status: 403, body: cloudflareBlock }, 'blocked'],
  ['a login form', { body: loginForm }, 'login'],
  ['a page at a login path', { body: application, redirectedTo: '/users/sign_in' }, 'login'],
  ['a page at a login path with a query', { body: home, redirectedTo: '/Login.aspx?return=%2F' }, 'login'],
  ['an application', { body: application }, 'html'],
  ['a home page with scripts that gatekeepers add', { body: home }, 'html'],
  ['a page after a BOM and comments', { body: `\uFEFF\n<!-- a --> <!--b-->\n${home}` }, 'html'],
  ['a comment, text and a page', { body: `<!-- a -->!${home}` }, undefined],
  ['XHTML', { body: `<?xml version="1.0"?>\n${home}` }, 'html'],
  ['a page in pieces', { body: '<meta name="viewport" content="x"><iframe src="/">' }, 'html'],
  ['something like a page', { body: '<htmlx>' }, undefined],
  ['an error page', { status: 403, body: page('<title>403 Forbidden</title>') }, undefined],
  ['a page after each kind of white space', { body: `\t\v\f\r\n ${home}` }, 'html'],
  ['a page after another control character', { body: `\u0008${home}` }, undefined],
  ['a page after another character of the same block', { body: bytes(0xef, 0xbb, 0xbe, home) }, undefined],
  ['a login path without a redirect to it', { body: application, at: '/login' }, 'html'],
  ['a gatekeeper page with 410', { status: 410, body: cloudflare }, undefined],
  ['a page with the last success', { status: 299, body: home }, 'html'],
  ['a page with a redirect status', { status: 300, body: home }, undefined],
  ['a declaration that never ends', { body: '<?xml <html>' }, undefined],
  ['rules', { body: 'User-agent: *\nDisallow: /captcha-delivery.com/\n' }, undefined],
  ['rules after a comment of HTML', { body: '<!-- $Id$ -->\nUser-agent: *\nDisallow: /\n' }, undefined],
  [
    'rules with the Content-Type of HTML',
    { fields: { 'content-type': 'text/html' }, body: 'Allow: /' },
    undefined,
  ],
  ['a comment that never ends', { body: '<!-- <html>' }, undefined],
  ['an unknown tag', { body: '<rules><html></rules>' }, undefined],
  [
    'a field value that is a name on Object.prototype',
    { fields: { 'cf-mitigated': '__proto__' } },
    undefined,
  ],
];

describe('the suspicion about an answer', () => {
  it.each(ANSWERS)('%s', (_what, answer, expected) => {
    expect(suspect(answer)).toBe(expected);
  });

  it('needs only the start of the body, and linear time', () => {
    const far = page('<title>x</title>', ' '.repeat(SUSPECT_BYTES) + cloudflare);
    expect(suspect({ body: far })).toBe('html');
    expect(suspect({ body: '<!---->'.repeat(1_000_000) })).toBe(undefined);
    expect(suspect({ body: ' '.repeat(8_000_000) })).toBe(undefined);
    expect(suspect({ body: new Uint8Array(4_000_000).fill(0x3c) })).toBe(undefined);
  });
});

it.each([
  ['challenge', true],
  ['blocked', true],
  ['login', false],
  ['html', false],
  [undefined, false],
] as const)('%s is the answer of a gatekeeper: %s', (kind, expected) => {
  expect(isBotChallenge(kind)).toBe(expected);
});
