import { omitUndefined } from '../../../core/base/index.ts';
import type { ProxySettings } from '../../../core/net/index.ts';
import type { Session } from '../../answers/index.ts';
import { UsageError } from '../../answers/session.ts';

/**
 * Selects the proxies for requests: the value of `--proxy` (`given`), or the environment variables as curl reads them.
 * Lower-case names (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`) take precedence over upper-case names.
 * `HTTP_PROXY` is ignored when `REQUEST_METHOD` is set, because a CGI server derives it from the `Proxy` field of a
 * request. An empty variable counts as not set. `NO_PROXY` also applies to `--proxy`. Returns `undefined` when no request
 * uses a proxy.
 *
 * @throws UsageError when a value is not the URL of an http or https proxy.
 */
export function readProxies(given: string | undefined, env: Session['env']): ProxySettings | undefined {
  const noProxy = env['no_proxy'] || env['NO_PROXY'] || '';
  if (noProxy.trim() === '*') return undefined;
  if (given !== undefined) {
    const proxy = readProxyUrl('--proxy', given);
    return { http: proxy, https: proxy, noProxy };
  }
  const isCgi = env['REQUEST_METHOD'] !== undefined;
  const http = firstSet(env, ['http_proxy', ...(isCgi ? [] : ['HTTP_PROXY']), 'all_proxy', 'ALL_PROXY']);
  const https = firstSet(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']);
  if (http === undefined && https === undefined) return undefined;
  return { ...omitUndefined({ http, https }), noProxy };
}

/** Reads the first variable that is set and not empty. */
function firstSet(env: Session['env'], names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name];
    if (value !== undefined && value !== '') return readProxyUrl(name, value.trim());
  }
  return undefined;
}

/** Reads a proxy URL; `http` is the default scheme. Errors do not quote the value, because it may hold a password. */
function readProxyUrl(name: string, value: string): string {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const unlike = url === undefined ? 'something else' : unlikeProxy(url);
  if (url !== undefined && unlike === undefined) return url.href;
  throw new UsageError(
    `Expected ${name} to be the URL of an http or https proxy, got ${unlike}; ` +
      'write http://proxy.example:3128, or set NO_PROXY=* to connect without a proxy',
  );
}

/** Says what of a URL is not of a proxy, which has an address and perhaps credentials, but no path. */
function unlikeProxy({
  protocol,
  hostname,
  pathname,
  search,
  hash,
  username,
  password,
}: URL): string | undefined {
  if (protocol !== 'http:' && protocol !== 'https:') return `one of ${protocol}`;
  if (hostname === '') return 'one without a host';
  if (pathname !== '/' || search !== '' || hash !== '') {
    return 'one that goes on behind the port (in a password write / ? # as %2F %3F %23)';
  }
  try {
    decodeURIComponent(username + password);
    return undefined;
  } catch {
    return 'one with a stray % in its user name or password (write %25)';
  }
}
