/** Of Node, of undici, and of TLS as OpenSSL names it. */
const NETWORK_CODE =
  /^(?:E[A-Z]{2,}$|UND_ERR_(?:SOCKET|CONNECT_TIMEOUT|HEADERS_TIMEOUT|BODY_TIMEOUT)|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/;

/** Whether an error, or what caused it, has a code of the network. */
export function isNetworkError(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < 5; each = each.cause, depth++) {
    const code: unknown = Reflect.get(each, 'code');
    if (typeof code === 'string' && NETWORK_CODE.test(code)) return true;
    const inner: unknown = Reflect.get(each, 'errors');
    if (Array.isArray(inner) && inner.some(isNetworkError)) return true;
  }
  return false;
}
