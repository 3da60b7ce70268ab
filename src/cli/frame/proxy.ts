import type { ProxySettings } from '../../net/index.ts';
import type { Session } from '../../report/index.ts';
import { UsageError } from '../../report/usage-error.ts';

/**
 * The proxies that requests go over: `given` with `--proxy`, or what the environment names, as curl reads it. `http_proxy`,
 * `https_proxy`, `all_proxy` and `no_proxy` in lower case come before those in upper case; `HTTP_PROXY` is passed over where
 * `REQUEST_METHOD` is set, since a CGI server makes it of a request's `Proxy` field. `NO_PROXY` holds for `--proxy` too.
 * `undefined` when all is asked directly.
 *
 * @throws UsageError for what is no URL of an http or https proxy.
 */
export function readProxies(given: string | undefined, env: Session['env']): ProxySettings | undefined {
  const noProxy = env['no_proxy'] ?? env['NO_PROXY'] ?? '';
  if (noProxy.trim() === '*') return undefined;
  if (given !== undefined) {
    const proxy = readProxyUrl('--proxy', given);
    return { http: proxy, https: proxy, noProxy };
  }
  const isCgi = env['REQUEST_METHOD'] !== undefined;
  const http = firstSet(env, ['http_proxy', ...(isCgi ? [] : ['HTTP_PROXY']), 'all_proxy', 'ALL_PROXY']);
  const https = firstSet(env, ['https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY']);
  if (http === undefined && https === undefined) return undefined;
  return { ...(http === undefined ? {} : { http }), ...(https === undefined ? {} : { https }), noProxy };
}

/** The first variable that is set counts; set to nothing it means no proxy. */
function firstSet(env: Session['env'], names: readonly string[]): string | undefined {
  const name = names.find((each) => env[each] !== undefined);
  const value = name === undefined ? '' : (env[name] ?? '').trim();
  return name === undefined || value === '' ? undefined : readProxyUrl(name, value);
}

/** Without a scheme it is http. The value is not shown when it is wrong: there may be a password in it. */
function readProxyUrl(name: string, value: string): string {
  const text = /^[a-z][a-z\d+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (URL.canParse(text)) {
    const { protocol, hostname, href } = new URL(text);
    if ((protocol === 'http:' || protocol === 'https:') && hostname !== '') return href;
    throw new UsageError(
      `Expected ${name} to be the URL of an http or https proxy, got one of ${protocol}; ` +
        'write http://proxy.example:3128, or set NO_PROXY=* to ask without a proxy',
    );
  }
  throw new UsageError(
    `Expected ${name} to be the URL of a proxy, got something else; write http://proxy.example:3128`,
  );
}
