import { BlockList, isIP } from 'node:net';
import { Agent, Dispatcher, ProxyAgent } from 'undici';

/** The proxies, and the hosts that are reached without them. */
export interface ProxySettings {
  /** URL of the proxy for `http:` URLs. Absent: they go direct. */
  readonly http?: string;
  /** URL of the proxy for `https:` URLs. Absent: they go direct. */
  readonly https?: string;
  /** In the syntax of the variable `NO_PROXY`. */
  readonly noProxy?: string;
}

/**
 * Sends requests over the proxy that curl would choose: `http:` in absolute form, because some proxies tunnel to port
 * 443 only, and `https:` through a tunnel. undici's `EnvHttpProxyAgent` differs: without a proxy for `https:` it uses
 * the one for `http:`, and it has no address ranges in `NO_PROXY`.
 */
export class ProxyDispatcher extends Dispatcher {
  readonly #http: ProxyAgent | undefined;
  readonly #https: ProxyAgent | undefined;
  readonly #direct = new Agent();
  readonly #exceptions: ProxyExceptions;

  constructor({ http, https, noProxy = '' }: ProxySettings) {
    super();
    this.#http = http === undefined ? undefined : proxyAgent(http);
    this.#https = https === http ? this.#http : https === undefined ? undefined : proxyAgent(https);
    this.#exceptions = new ProxyExceptions(noProxy);
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const proxy = this.proxyFor(new URL(options.origin ?? ''));
    return (proxy ?? this.#direct).dispatch(options, handler);
  }

  override async close(): Promise<void> {
    await Promise.all([this.#http?.close(), this.#ownHttps?.close(), this.#direct.close()]);
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.#http?.destroy(), this.#ownHttps?.destroy(), this.#direct.destroy()]);
  }

  get #ownHttps(): ProxyAgent | undefined {
    return this.#https === this.#http ? undefined : this.#https;
  }

  /** The proxy for `url`; `undefined` where it is reached without one. */
  proxyFor(url: URL): ProxyAgent | undefined {
    const proxy = url.protocol === 'https:' ? this.#https : this.#http;
    return proxy === undefined || this.#exceptions.has(url) ? undefined : proxy;
  }
}

function proxyAgent(uri: string): ProxyAgent {
  return new ProxyAgent({ uri, proxyTunnel: false, headersTimeout: 0, bodyTimeout: 0 });
}

/**
 * The hosts that are reached without a proxy. `*` stands for all hosts. A name, with or without a leading dot, stands
 * for itself and all names below it. Addresses and ranges (`10.0.0.0/8`) are allowed too. Items are separated by
 * commas or white space. A port after a name counts, as in Node; curl has no ports here.
 */
export class ProxyExceptions {
  readonly #all: boolean;
  readonly #names: readonly { readonly name: string; readonly port: string | undefined }[];
  readonly #addresses = new BlockList();

  constructor(noProxy: string) {
    const items = noProxy.split(/[\s,]+/).filter((item) => item !== '');
    this.#all = items.includes('*');
    this.#names = items
      .filter((item) => !this.#addAddresses(item))
      .map((item) => {
        const [, name = '', port] = /^(.*?)(?::(\d+))?$/.exec(item.toLowerCase()) ?? [];
        return { name: name.replace(/^\*?\./, '').replace(/\.$/, ''), port };
      });
  }

  has(url: URL): boolean {
    if (this.#all) return true;
    const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
    const family = isIP(host);
    if (family !== 0 && this.#addresses.check(host, family === 4 ? 'ipv4' : 'ipv6')) return true;
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    return this.#names.some(
      (item) =>
        (item.port === undefined || item.port === port) &&
        (host === item.name || (family === 0 && host.endsWith(`.${item.name}`))),
    );
  }

  #addAddresses(item: string): boolean {
    const [, address = '', bits] = /^\[?([^\]/]+)\]?(?:\/(\d{1,3}))?$/.exec(item) ?? [];
    const family = isIP(address);
    if (family === 0) return false;
    const type = family === 4 ? 'ipv4' : 'ipv6';
    if (bits === undefined) this.#addresses.addAddress(address, type);
    else if (Number(bits) <= (family === 4 ? 32 : 128))
      this.#addresses.addSubnet(address, Number(bits), type);
    return true;
  }
}
