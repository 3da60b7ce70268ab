import { urlWithoutUserinfo } from '../../core/base/index.ts';

/**
 * Whether a request for `url` goes to a site; `data:`, `blob:` and `about:` do not.
 *
 * @throws TypeError when it is not an absolute URL.
 */
export function reachesSite(url: string | URL): boolean {
  // URL parsers ignore white space before and within the scheme, so only ordinary strings skip the parser.
  if (typeof url === 'string') {
    return url.startsWith('https:') || url.startsWith('http:') || reachesSite(parseUrl(url));
  }
  return url.protocol === 'http:' || url.protocol === 'https:' || url.protocol === 'ftp:';
}

/**
 * The URL of a request.
 *
 * @throws TypeError when it is no absolute URL, as `fetch` does.
 */
export function parseUrl(text: string): URL {
  try {
    return new URL(text);
  } catch (cause) {
    throw new TypeError(`Failed to parse URL from ${urlWithoutUserinfo(text)}`, { cause });
  }
}

/** The URL for messages, events and errors. */
export function shownUrl(url: string | URL): string {
  return urlWithoutUserinfo(hrefOf(url));
}

export function hrefOf(url: string | URL): string {
  return typeof url === 'string' ? new URL(url).href : url.href;
}
