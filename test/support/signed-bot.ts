import { createHash, createPublicKey, type KeyObject, randomBytes, verify } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';
import type { Page, Response as PageResponse } from 'playwright-core';
import { answer, type Handler } from './site.ts';

type Signer = (url: URL, challenge?: string) => Record<string, string>;

/** What the recipe for a signed bot in the guide to guards defines. */
export interface SignedBot {
  readonly signingFetch: typeof fetch;
  readonly signatureFor: Signer;
  readonly publicKey: KeyObject;
  readonly signedGoto: (page: Page, sign: Signer) => Promise<(url: string) => Promise<PageResponse | null>>;
}

/** The drafts that verifiers speak: they differ in what `Signature-Agent` names. */
export type Draft = '-00' | '-01';

/** Loads the recipe as it stands in the guide, for -01, or with the value that the guide gives for -00. */
export async function signedBot(draft: Draft = '-01'): Promise<SignedBot> {
  const guide = readFileSync(new URL('../../src/guards/README.md', import.meta.url), 'utf8');
  const blocks = [...(/### A signed bot\n.*/s.exec(guide)?.[0] ?? '').matchAll(/```ts\n(.*?)```/gs)];
  const [forFetch = '', forPages = ''] = blocks.map(([, source = '']) => source);
  const folder = new URL(
    `../../build/signed-bot-${process.pid}-${randomBytes(4).toString('hex')}/`,
    import.meta.url,
  );
  mkdirSync(folder, { recursive: true });
  try {
    const file = new URL('recipe.ts', folder);
    const chosen = forFetch.replace(
      /(const signatureAgent = )(.*)(; \/\/ for verifiers of -00: )(.*)/,
      (line, ...parts) => (draft === '-01' ? line : `${parts[0]}${parts[3]};`),
    );
    const source = chosen.replace(/\nconst robots = .*/s, '').replace(/^import .* from 'canfetch';\n/m, '');
    writeFileSync(
      file,
      `${source}\n${forPages}\nexport { publicKey, signatureFor, signedGoto, signingFetch };\n`,
    );
    return await import(fileURLToPath(file));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The key of RFC 9421, appendix B.1.4. */
export const testKey = createPublicKey({
  key: { kty: 'OKP', crv: 'Ed25519', x: 'JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs' },
  format: 'jwk',
});

export interface VerifiedRequest {
  readonly method?: string;
  /** Path and query. */
  readonly url?: string;
  /** In seconds. */
  readonly now?: number;
}

/**
 * Verifies a request by RFC 9421 §3.2, with the additions of Web Bot Auth, by code of its own: the covered components
 * are read from `Signature-Input`, their values from the request as the server got it.
 *
 * @returns what is wrong; `undefined` when nothing is.
 */
export function faultIn(
  headers: IncomingHttpHeaders,
  key: KeyObject,
  request: VerifiedRequest = {},
): string | undefined {
  const { method = 'GET', url = '/', now = Math.floor(Date.now() / 1000) } = request;
  const [, label, list = '', rest = ''] =
    /^([a-z*][a-z0-9_.*-]*)=\(([^)]*)\)(.*)$/.exec(String(headers['signature-input'])) ?? [];
  if (label === undefined) return 'no signature';
  const identifiers = list.match(/"[^"]*"(?:;key="[^"]*")?/g) ?? [];
  const fault = profileFault(rest, identifiers, key, now);
  if (fault !== undefined) return fault;
  const base = [
    ...identifiers.map((identifier) => `${identifier}: ${componentOf(identifier, headers, method, url)}`),
    `"@signature-params": (${list})${rest}`,
  ].join('\n');
  const bytes = /^:([A-Za-z0-9+/]+={0,2}):$/.exec(memberOf(headers['signature'], label))?.[1] ?? '';
  return verify(null, Buffer.from(base), key, Buffer.from(bytes, 'base64')) ? undefined : 'signature';
}

/** Where the verifier of a draft finds the keys; `undefined` when it takes no such `Signature-Agent`. */
export function keyDirectoryOf(headers: IncomingHttpHeaders, draft: Draft): string | undefined {
  const [, label] = /^([a-z*][a-z0-9_.*-]*)=/.exec(String(headers['signature-input'])) ?? [];
  // A member with parameters does not match.
  const [, value] = /^"(https:[^"]*)"$/.exec(memberOf(headers['signature-agent'], label ?? '')) ?? [];
  if (value === undefined) return undefined;
  // "Make every `Signature-Agent` value a direct JWK Set URI and prohibit member parameters"
  if (draft === '-01') return new URL(value).pathname === '/' ? undefined : value;
  return new URL(value).origin === value ? `${value}${DIRECTORY}` : undefined;
}

const DIRECTORY = '/.well-known/http-message-signatures-directory';

/** Draft-ietf-webbotauth-httpsig-protocol, "Generating HTTP Message Signature". */
function profileFault(
  rest: string,
  identifiers: readonly string[],
  key: KeyObject,
  now: number,
): string | undefined {
  const parameter = (name: string): string => new RegExp(`;${name}="?([^";]*)`).exec(rest)?.[1] ?? '';
  if (parameter('tag') !== 'web-bot-auth') return 'tag';
  if (!(Number(parameter('created')) <= now && now < Number(parameter('expires')))) return 'time';
  const { crv, kty, x } = key.export({ format: 'jwk' });
  const thumbprint = createHash('sha256').update(`{"crv":"${crv}","kty":"${kty}","x":"${x}"}`);
  if (parameter('keyid') !== thumbprint.digest('base64url')) return 'keyid';
  const covers = identifiers.includes('"@authority"') || identifiers.includes('"@target-uri"');
  return covers ? undefined : '@authority is not covered';
}

/** The value of a component (§2.1, §2.2), over plain HTTP. */
function componentOf(identifier: string, headers: IncomingHttpHeaders, method: string, url: string): string {
  // §2.2.3: the host in lower case, without the default port of the scheme.
  const authority = String(headers.host).toLowerCase().replace(/:80$/, '');
  const [, name = '', key] = /^"([^"]*)"(?:;key="([^"]*)")?$/.exec(identifier) ?? [];
  if (key !== undefined) return memberOf(headers[name], key);
  const derived: Readonly<Record<string, string>> = {
    '@authority': authority,
    '@method': method,
    '@path': url.split('?', 1)[0] ?? '',
    '@target-uri': `http://${authority}${url}`,
  };
  return derived[name] ?? String(headers[name]);
}

/** The member of a dictionary that has one member (RFC 9651 §3.2), as the signed fields here do. */
function memberOf(field: string | string[] | undefined, key: string): string {
  const text = String(field);
  return text.startsWith(`${key}=`) ? text.slice(key.length + 1) : '';
}

/** Asks each unsigned request, and each that does not have its last nonce, for a signature of its own (RFC 9421 §5). */
export function challenger(publicKey: KeyObject, status: 403 | 429 = 403): Handler {
  let nonce = '';
  return (request, response) => {
    if (/^\/(?:robots\.txt|favicon\.ico)$/.test(request.url ?? '')) return answer(response, { body: '' });
    const { headers, method = '', url = '' } = request;
    const input = String(headers['signature-input']);
    const isAsked = nonce !== '' && input.startsWith('asked=(') && input.includes(`;nonce="${nonce}"`);
    const covers = input.includes('"@authority" "@method" "@target-uri" "signature-agent";key="asked"');
    if (isAsked && covers && faultIn(headers, publicKey, { method, url }) === undefined) {
      nonce = '';
      return answer(response, { headers: { 'content-type': 'text/html' }, body: 'a page' });
    }
    nonce = randomBytes(24).toString('base64');
    const components = '"@authority" "@method" "@target-uri" "signature-agent";key="asked"';
    answer(response, {
      status,
      headers: {
        'accept-signature': `asked=(${components});created;expires;nonce="${nonce}";tag="web-bot-auth"`,
        'content-type': 'text/html',
      },
      body: 'sign',
    });
  };
}
