import { causesOf } from '../base/index.ts';
import { boundedField } from './header-fields.ts';
import type { TransportResponse } from './transport.ts';

/**
 * The status with which a proxy refused to open a tunnel (also 407 to a request in absolute form), read from undici's
 * error, which has it in the message only.
 */
export function tunnelStatus(error: unknown): number | undefined {
  for (const each of causesOf(error)) {
    const message = String(Reflect.get(each, 'message'));
    const status = /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)$/.exec(message);
    if (status !== null) return Number(status[1] ?? status[2]);
  }
  return undefined;
}

/**
 * Whether the response is that of a proxy, which marked it as its own: 407 (RFC 9110 §15.5.8: "the client needs to
 * authenticate itself in order to use a proxy"), `Proxy-Status` with `error` (RFC 9209 §2.1.1: "When present, it
 * indicates that an intermediary encountered an issue when obtaining this response"), or Squid's own field.
 */
export function isProxyError({ status, headers, mayBeFromProxy }: TransportResponse): boolean {
  if (mayBeFromProxy !== true) return false;
  if (status === 407 || headers.get('x-squid-error') !== undefined) return true;
  const proxyStatus = boundedField(headers, 'proxy-status')?.replace(QUOTED, '');
  return proxyStatus !== undefined && /;\s*error=/i.test(proxyStatus);
}

/** An sf-string. It may hold any text. */
const QUOTED = /"(?:[^"\\]|\\.)*"/g;
