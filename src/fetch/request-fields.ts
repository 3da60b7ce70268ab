import type { FetchRobotsOptions } from './options.ts';

const ACCEPT = 'text/plain, text/*;q=0.9, */*;q=0.1';

/**
 * The header fields of the request for `url`, a hop of the attempt that began at `initial`; and whether they make it a
 * conditional request.
 */
export function requestFields(
  url: URL,
  initial: URL,
  options: FetchRobotsOptions,
): { readonly fields: Record<string, string>; readonly conditional: boolean } {
  const { agent, headersForRobots, transport } = options;
  const fields: Record<string, string> = { 'user-agent': agent, accept: ACCEPT };
  if (transport.acceptEncoding !== undefined) fields['accept-encoding'] = transport.acceptEncoding;
  // Fields that the caller gave for one origin are sent to no other.
  if (headersForRobots !== undefined && url.origin === initial.origin) {
    for (const [name, value] of Object.entries(headersForRobots)) fields[name.toLowerCase()] = value;
  }
  return { fields, conditional: addValidators(fields, url, options) };
}

/** Adds the validators, if `url` issued them. */
function addValidators(
  fields: Record<string, string>,
  url: URL,
  { validators, profile }: FetchRobotsOptions,
): boolean {
  if (validators === undefined || !profile.conditionalRequests || validators.url !== url.href) return false;
  if (validators.etag !== undefined) fields['if-none-match'] = validators.etag;
  if (validators.lastModified !== undefined) fields['if-modified-since'] = validators.lastModified;
  return validators.etag !== undefined || validators.lastModified !== undefined;
}
