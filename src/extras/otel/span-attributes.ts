/** The attributes of spans: OpenTelemetry's conventions for HTTP, and `canfetch.*`. */
import type { Attributes } from '@opentelemetry/api';
import { codeOf, FETCH_FAILED, omitUndefined } from '../../core/base/index.ts';
import type { CheckMessage, PermitMessage } from '../../core/client/index.ts';
import type { AttemptMessage, RobotsRequestMessage } from '../../core/fetch/index.ts';
import type { Outcome } from '../../core/lifecycle/index.ts';

/** OpenTelemetry's conventions redact these in `url.full`: signatures and keys of storage services. */
const SECRET_PARAMETER = /([?&](?:AWSAccessKeyId|Signature|sig|X-Goog-Signature)=)[^&#]*/g;
const MAX_PATTERN = 200;

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443, 'ftp:': 21 };

export function checkStart({ url, origin, shared }: CheckMessage): Attributes {
  return {
    'url.full': redacted(url),
    'canfetch.origin': origin,
    ...(shared ? { 'canfetch.shared': true } : {}),
  };
}

export function checkEnd({ result }: CheckMessage): Attributes {
  if (result === undefined) return {};
  const { agent, profile, state, reason, allowed, rule, robots } = result;
  return {
    'canfetch.agent': agent,
    'canfetch.profile': profile,
    'canfetch.state': state,
    'canfetch.reason': reason,
    'canfetch.allowed': allowed,
    'canfetch.source': robots.source,
    ...omitUndefined({ 'canfetch.sha256': robots.sha256 }),
    ...(rule === undefined
      ? {}
      : {
          'canfetch.rule.directive': rule.directive,
          'canfetch.rule.pattern': rule.pattern.slice(0, MAX_PATTERN),
          'canfetch.rule.line': rule.line,
        }),
  };
}

export function permitStart({ url, origin }: PermitMessage): Attributes {
  return { 'url.full': redacted(url), 'canfetch.origin': origin };
}

export function permitEnd({ result, error }: PermitMessage): Attributes {
  const { delayFrom } = Object(error) as { delayFrom?: string };
  return omitUndefined({ 'canfetch.waited_ms': result?.waitedMs, 'canfetch.delay_from': delayFrom });
}

export function attemptStart({ origin, revalidation }: AttemptMessage): Attributes {
  return { 'canfetch.origin': origin, 'canfetch.revalidation': revalidation };
}

export function attemptEnd({ result }: AttemptMessage): Attributes {
  return result === undefined ? {} : { ...outcomeAttributes(result), 'canfetch.redirects': result.hops };
}

export function requestStart({ method, url, redirects }: RobotsRequestMessage): Attributes {
  const { protocol, hostname, port } = new URL(url);
  const isHttp = method === 'GET';
  return {
    'url.full': redacted(url),
    'server.address': hostname,
    'server.port': Number(port) || DEFAULT_PORTS[protocol],
    ...(isHttp ? { 'http.request.method': method } : {}),
    ...(isHttp && redirects > 0 ? { 'http.request.resend_count': redirects } : {}),
  };
}

export function requestEnd({ method, status, result }: RobotsRequestMessage): Attributes {
  const attributes = result === undefined ? {} : outcomeAttributes(result);
  if (status === undefined) return attributes;
  if (method === 'RETR') return { ...attributes, 'ftp.response.status_code': status };
  return {
    'http.response.status_code': status,
    ...(status < 400 ? {} : { 'error.type': String(status) }),
    ...attributes,
  };
}

function outcomeAttributes(outcome: Outcome): Attributes {
  const { kind } = outcome;
  return {
    'canfetch.outcome': kind,
    ...(kind === 'success' ? { 'http.response.body.size': outcome.body.length } : {}),
    ...(kind === 'unreachable' ? { 'error.type': outcome.error } : {}),
  };
}

/** `error.type`: the code of an error, else its name. */
export function errorType(error: unknown): string {
  const code = codeOf(error);
  return code === FETCH_FAILED && error instanceof Error ? error.name : code;
}

function redacted(url: string): string {
  return url.replaceAll(SECRET_PARAMETER, '$1REDACTED');
}
