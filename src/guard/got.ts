import type { Decision } from '../decision/index.ts';
import type { GuardClient } from './client.ts';
import { Guard } from './guard.ts';
import { ignoredBecause } from './ignore.ts';
import { assertThrowing, type ThrowingGuardOptions } from './options.ts';
import { refusalFor } from './refusal.ts';
import { fieldsOf, usageHeaders } from './fetch/response.ts';

export type { GuardClient } from './client.ts';
export type { OtherIdentity } from './identity.ts';
export type { RobotsInit } from './ignore.ts';
export type { IgnoredRequest, ThrowingGuardOptions } from './options.ts';

/** The part of got's `Options` that the guard reads. */
export interface GotRequest {
  readonly url?: string | URL | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Header fields by lower-case name. The guard sets `user-agent`. */
  readonly headers?: Record<string, string | string[] | undefined>;
  /** `{ robots: { ignore: true, because: '…' } }` sends a request regardless. */
  readonly context?: Readonly<Record<string, unknown>>;
}

/** The result of {@link gotHooks}. got merges the arrays with its own. */
export interface GotHooks {
  readonly hooks: {
    beforeRequest: ((request: GotRequest) => Promise<void>)[];
    beforeRedirect: ((request: GotRequest, response: GotResponse) => Promise<void>)[];
    afterResponse: (<Response extends GotResponse>(response: Response) => Response)[];
    beforeError: (<Failure extends GotFailure>(error: Failure) => Failure)[];
  };
}

/** The part of got's `Response` that the guard reads. */
export interface GotResponse {
  readonly url: string;
  readonly statusCode: number;
  readonly request: { readonly options: GotRequest };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** The part of got's `RequestError` that the guard reads. */
export interface GotFailure {
  readonly options: GotRequest;
  readonly response?: unknown;
  readonly cause?: unknown;
}

/**
 * Makes hooks for `got.extend(...)`. They check each request, and each redirect it meets, against the robots.txt of its
 * own origin before it is sent.
 *
 * A request that is refused rejects with got's `RequestError`, whose `code` is `ERR_ROBOTS_DISALLOWED` or
 * `ERR_ROBOTS_UNREACHABLE` and whose `cause` is the refusal with its `decision` and `retryAt`. got does not
 * retry it. Hooks run in the order in which they were added, so add these after any that change the URL.
 *
 * @throws RobotsInvalidOptionsError (`ERR_ROBOTS_INVALID_OPTIONS`)
 *
 * @example
 * ```ts
 * import got from 'got';
 * import { RobotsClient } from 'canfetch';
 * import { gotHooks } from 'canfetch/got';
 *
 * const robots = new RobotsClient({ agent: 'ExampleBot/1.0 (+https://example.com/bot)' });
 * const gotPolitely = got.extend(gotHooks(robots));
 * const page = await gotPolitely('https://example.com/page').text();
 * ```
 */
export function gotHooks(client: GuardClient, options: ThrowingGuardOptions = {}): GotHooks {
  assertThrowing(options);
  const guard = new Guard(client, options, true);
  /** URLs of redirects that are decided and reported already. got runs `beforeRequest` for a redirect again. */
  const decided = new WeakMap<GotRequest, string>();
  /** The decision about the last hop of a request. */
  const allowedBy = new WeakMap<GotRequest, Decision>();
  /** The error that a hook threw about a request, or about a redirect response. */
  const thrown = new WeakMap<object, unknown>();

  const admit = async (request: GotRequest, about: object): Promise<string> => {
    try {
      const url = new URL(String(request.url));
      const because = ignoredBecause(request.context?.['robots']);
      identify(url, request.headers);
      const onDecision = guard.hasPurpose
        ? (decision: Decision): void => void allowedBy.set(request, decision)
        : undefined;
      // A URL that `filter` leaves out has no decision.
      if (onDecision !== undefined) allowedBy.delete(request);
      await guard.admit(url, { signal: request.signal, because, onDecision });
      return url.href;
    } catch (error) {
      thrown.set(about, error);
      throw error;
    }
  };
  const identify = (url: URL, headers: GotRequest['headers']): void => {
    if (headers === undefined) return;
    const given = headers['user-agent'];
    const userAgent = guard.identity?.replaces(url, typeof given === 'string' ? given : given?.[0]);
    if (userAgent !== undefined) headers['user-agent'] = userAgent;
  };
  const answered = ({ url, statusCode: status, headers }: GotResponse): void =>
    guard.reports.answered(url, status, fieldsOf(headers));

  return {
    hooks: {
      beforeRequest: [
        async (request) => {
          const redirectedTo = decided.get(request);
          decided.delete(request);
          if (redirectedTo === undefined || redirectedTo !== String(request.url)) {
            await admit(request, request);
          }
        },
      ],
      beforeRedirect: [
        async (request, response) => {
          answered(response);
          decided.set(request, await admit(request, response));
        },
      ],
      afterResponse: [
        (response) => {
          answered(response);
          if (guard.hasPurpose) {
            const decision = allowedBy.get(response.request.options);
            const refused = guard.refusesResponse(decision, usageHeaders(response.headers));
            if (refused !== undefined) {
              const error = refusalFor(refused);
              thrown.set(response.request.options, error);
              throw error;
            }
          }
          return response;
        },
      ],
      beforeError: [
        (error) => {
          const { options, response } = error;
          // Before version 14.4 got copies the code and the message of an error thrown by a hook, but sets no `cause`.
          if (error.cause === undefined) {
            const cause = thrown.get(options) ?? (isObject(response) ? thrown.get(response) : undefined);
            if (cause !== undefined)
              Object.defineProperty(error, 'cause', { value: cause, configurable: true });
          }
          if (response === undefined && options.url !== undefined) {
            guard.reports.failed(options.url, error, options.signal);
          }
          return error;
        },
      ],
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
