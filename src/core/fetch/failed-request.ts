import { causesOf, codeOf, isText, printable } from '../base/index.ts';
import type { ThrownDetails } from '../lifecycle/index.ts';
import { FETCH_FAILED, FetchFailure, PROXY } from './failure.ts';

interface FailedRequest extends ThrownDetails {
  readonly error: string;
  /** The status with which a proxy refused to open a tunnel. */
  readonly status?: number;
}

/** What the error of a request for `url` says: its code, who refused, what code of the caller threw. */
export function failedRequest(error: unknown, url: URL): FailedRequest {
  const status = tunnelStatus(error);
  if (status !== undefined) return { error: PROXY, status };
  const code = codeOf(error);
  if (code === FETCH_FAILED && !(error instanceof FetchFailure)) {
    const message = error instanceof Error ? error.message : error;
    return isText(message) && message !== ''
      ? { error: code, detail: printable(message), cause: error }
      : { error: code };
  }
  const end = unopenedConnection(error);
  if (end === undefined) return { error: code };
  const detail = end.port === undefined ? end.host : `${end.host}:${end.port}`;
  if (isElsewhere(end, url)) return { error: PROXY, detail: `${detail}, ${code}` };
  return end.host === hostOf(url) ? { error: code } : { error: code, detail };
}

/** Where a connection should have led: an address with a port, or a name that was looked up. */
interface ConnectionEnd {
  readonly host: string;
  readonly port?: number;
}

/** The connection that could not be opened, by the error of Node. */
function unopenedConnection(error: unknown): ConnectionEnd | undefined {
  for (const each of causesOf(error)) {
    const { syscall, address, port, hostname }: Partial<Record<string, unknown>> = { ...each };
    if (syscall === 'getaddrinfo' && typeof hostname === 'string') return { host: printable(hostname) };
    if (syscall === 'connect' && typeof address === 'string' && typeof port === 'number')
      return { host: printable(address), port };
  }
  return undefined;
}

/**
 * Whether a connection cannot have been one to the site: the port, the address or the name is another. Not over FTP, whose
 * servers name a port for the data.
 */
function isElsewhere({ host, port }: ConnectionEnd, url: URL): boolean {
  if (url.protocol === 'ftp:') return false;
  const wanted = hostOf(url);
  if (port === undefined) return host !== wanted;
  const isAddress = /^[\d.]+$|:/.test(wanted);
  return port !== Number(url.port || PORTS[url.protocol]) || (isAddress && host !== wanted);
}

const PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/**
 * The status with which a proxy refused to open a tunnel (also 407 to a request in absolute form), read from the error,
 * which has it in the message only.
 */
function tunnelStatus(error: unknown): number | undefined {
  for (const each of causesOf(error)) {
    const message = String(Reflect.get(each, 'message'));
    const status = REFUSED_TUNNEL.exec(message)?.[1];
    if (status !== undefined) return Number(status);
  }
  return undefined;
}

/** Of undici, and of the agents hpagent and tunnel. */
const REFUSED_TUNNEL =
  /^(?:Proxy response \(|Proxy Authentication Required \(|Bad response: |tunneling socket could not be established, statusCode=)(\d{3})/;
