import {
  DEFAULT_AGENT,
  DEFAULT_MAX_BODY_BYTES,
  ignore,
  omitUndefined,
  printable,
} from '../../../core/base/index.ts';
import { platform } from '#platform';
import type { Response } from 'undici';
import type { Purpose } from '../../../core/decision/index.ts';
import type { StoreEvent } from '../../../core/store/store.ts';
import type { RobotsClient, RobotsClientOptions } from '../../../core/client/index.ts';
import {
  isUrl,
  loadedFrom,
  type LoadedRobots,
  readOrigin,
  readRobots,
} from '../../answers/input/load-robots.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import type { EvidenceFile } from '../../../extras/evidence/index.ts';
import type { ProxyDispatcher, ProxySettings } from '../../../core/net/proxy-dispatcher.ts';
import { type OpenedStore, openStore, warnDamaged } from './named-store.ts';
import type { OnlineSettings } from './settings.ts';

/** A client with what was opened for it. Disposing it closes all. */
export interface OpenedClient extends AsyncDisposable {
  readonly client: RobotsClient;
  /** The proxies, when requests use any. */
  readonly dispatcher: ProxyDispatcher | undefined;
  readonly evidence: EvidenceFile | undefined;
}

/** A person waits longer than a crawler: the server of a store may be far away, and the machine busy. */
const STORE_DEADLINE_MS = 1_000;

/**
 * Opens a client. This imports all libraries.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`) when the store cannot be opened.
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) when evidence cannot be written to the file.
 * @throws UsageError for an invalid proxy URL, or for a proxy together with the address policy `'public-only'`: the
 *   proxy resolves the host names, so the client cannot enforce that policy; and for either of them on a runtime whose
 *   `fetch` is the transport.
 */
export async function openClient(
  { agents, profile, deadlineMs, store: named, evidence: path, proxy }: OnlineSettings,
  session: Session,
  more: RobotsClientOptions = {},
): Promise<OpenedClient> {
  const proxies = readProxies(proxy, session.env);
  if (proxies !== undefined && more.addressPolicy === 'public-only') {
    throw new UsageError(
      'Expected no proxy, got one from --proxy or the environment: the addresses it connects to cannot be checked; ' +
        'give --allow-private if the proxy itself refuses private addresses, or set NO_PROXY=* to connect without it',
    );
  }
  if (platform.transport !== 'undici' && (proxies !== undefined || more.addressPolicy === 'public-only')) {
    throw new UsageError(
      `Expected ${proxies === undefined ? '--allow-private' : 'no proxy, from --proxy or the environment'}: this runtime neither ` +
        'uses proxies nor shows which addresses it connects to; run the command with Node or Deno',
    );
  }
  const dispatcher =
    proxies && new (await import('../../../core/net/proxy-dispatcher.ts')).ProxyDispatcher(proxies);
  const { RobotsClient } = await import('../../../core/client/index.ts');
  // "*" is not a product token, so requests cannot carry it in User-Agent.
  const names = agents.filter((agent) => agent !== '*');
  let evidence: EvidenceFile | undefined;
  let opened: OpenedStore | undefined;
  const close = async (): Promise<void> => {
    await dispatcher?.destroy();
    await opened?.close();
    await evidence?.close();
  };
  try {
    // First, because every decision must be recorded.
    if (path !== undefined)
      evidence = await (await import('../../../extras/evidence/index.ts')).evidenceFile(path);
    if (named !== undefined) opened = await openStore(named, 'rename');
    if (opened !== undefined) warnDamaged(opened.store, session);
    const troubles = storeTroubles();
    const client = new RobotsClient({
      profile,
      agent: names.length === 0 ? DEFAULT_AGENT : names,
      ...omitUndefined({ deadlineMs, dispatcher, evidence, store: opened?.store }),
      onStoreEvent: troubles.note,
      storeDeadlineMs: STORE_DEADLINE_MS,
      ...more,
    });
    const closeAll = async (): Promise<void> => {
      // Closing the client writes its pending records, so it must precede closing the store.
      await client.close();
      await close();
      troubles.report(session);
    };
    return { client, dispatcher, evidence, [Symbol.asyncDispose]: closeAll };
  } catch (error) {
    // A connection to Redis that stays open would keep the process alive.
    await close().catch(ignore);
    throw error;
  }
}

/** A call that would wait longer is deferred, with the time to try again: hosts of AI agents give up after a minute. */
const MAX_DELAY_MS = 20_000;
/** Callers also limit the whole call. */
const TIMEOUT_MS = 30_000;

/** A guarded fetch: it rejects with the refusal of a disallowed URL or redirect. */
type PageFetch = (url: string, init: { headers: object; signal: AbortSignal }) => Promise<Response>;

/**
 * Makes the guarded fetch for pages. It uses undici's own, whose dispatchers check addresses on every Node.
 *
 * @param addressPolicy The client's. Proxies go with `'any'` alone: a proxy chooses addresses by itself.
 */
export async function makePageFetch(
  { client, dispatcher }: OpenedClient,
  addressPolicy: 'any' | 'public-only',
  purpose?: Purpose,
): Promise<PageFetch> {
  const [{ fetch }, { guardFetch }] = await Promise.all([
    import('undici'),
    import('../../../guards/fetch/fetch.ts'),
  ]);
  const pacing = { maxDelayMs: MAX_DELAY_MS };
  const options = { addressPolicy, pacing, timeoutMs: TIMEOUT_MS, ...omitUndefined({ purpose }) };
  const guarded = guardFetch(fetch, client, options);
  return (url, init) => guarded(url, dispatcher === undefined ? init : { ...init, dispatcher });
}

/**
 * Loads a robots.txt from a disk, standard input or an origin.
 *
 * @throws UsageError when a file cannot be read, or a URL is invalid.
 */
export async function loadRobots(
  operand: string,
  settings: OnlineSettings,
  session: Session,
  maxBodyBytes: number = DEFAULT_MAX_BODY_BYTES,
): Promise<LoadedRobots> {
  const { stdin, signal } = session;
  if (!isUrl(operand)) {
    return { kind: 'file', name: operand, ...(await readRobots(operand, stdin, 'FILE', maxBodyBytes)) };
  }
  const origin = readOrigin(operand);
  await using opened = await openClient(settings, session, { maxBodyBytes });
  return loadedFrom(operand, await opened.client.policy(origin, { signal }));
}

/** Notes store errors, and warns of them at the end. They do not stop the command: the client can work without its store. */
function storeTroubles(): { note(event: StoreEvent): void; report({ stderr }: Session): void } {
  let cause: string | undefined;
  let hasLost = false;
  return {
    note(event) {
      if (event.type !== 'timeout' && event.type !== 'failed') return;
      cause ??= event.type === 'timeout' ? 'it is slow' : String(event.error);
      if (event.operation === 'set') hasLost = true;
    },
    report({ stderr }) {
      if (cause === undefined) return;
      // How many is not known: a store that fails is left out for some seconds.
      const unwritten = hasLost ? '; records were not written' : '';
      stderr.write(`canfetch: the store failed (${printable(cause)})${unwritten}\n`);
    },
  };
}

/**
 * Selects the proxies for requests: the value of `--proxy` (`given`), or the environment variables as curl reads them.
 * Lower-case names (`http_proxy`, `https_proxy`, `all_proxy`, `no_proxy`) take precedence over upper-case names.
 * `HTTP_PROXY` is ignored when `REQUEST_METHOD` is set, because a CGI server derives it from the `Proxy` field of a
 * request. An empty variable counts as not set. `NO_PROXY` also applies to `--proxy`. Returns `undefined` when no request
 * uses a proxy.
 *
 * @throws UsageError when a value is not the URL of an http or https proxy.
 */
function readProxies(given: string | undefined, env: Session['env']): ProxySettings | undefined {
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
  if (url !== undefined && isProxy(url)) return url.href;
  throw new UsageError(
    `Expected ${name} to be the URL of an http or https proxy, got another; write http://proxy.example:3128 ` +
      '(in a password % / ? # as %25 %2F %3F %23), or set NO_PROXY=* to connect without a proxy',
  );
}

/** Whether a URL has an address and perhaps credentials, but no path. */
function isProxy({ protocol, hostname, pathname, search, hash, username, password }: URL): boolean {
  if (!['http:', 'https:'].includes(protocol) || hostname === '') return false;
  try {
    decodeURIComponent(username + password);
    return pathname === '/' && search === '' && hash === '';
  } catch {
    return false;
  }
}
