import type { ServerResponse } from 'node:http';
import type { LookupFunction } from 'node:net';
import { type Answer, answer, startSite } from '../support/site.ts';

/** Any number of origins on one port, told apart by their names, each of them counted. */
export interface Sites extends AsyncDisposable {
  readonly port: number;
  /** Of the origin with this number. */
  url(number: number, path: string): string;
  /** Which of them were asked for robots.txt, and by whom, in order of arrival. */
  readonly asked: readonly Asked[];
  /** How often the robots.txt of the origin with this number was asked for. */
  count(number: number): number;
}

export interface Asked {
  readonly host: string;
  readonly userAgent: string;
}

export const RULES = 'User-agent: *\nDisallow: /private\n';

/** @param answerTo What comes of a request; by default {@link RULES}. `undefined`: nothing, for ever. */
export async function startSites(
  answerTo: (asked: Asked) => Answer | undefined = () => ({ body: RULES }),
): Promise<Sites> {
  const asked: Asked[] = [];
  const respond = (response: ServerResponse, reply: Answer | undefined): void => {
    if (reply !== undefined) answer(response, reply);
  };
  const site = await startSite(({ url, headers }, response) => {
    if (url !== '/robots.txt') return answer(response, { body: 'a page' });
    const request = { host: headers.host ?? '', userAgent: headers['user-agent'] ?? '' };
    asked.push(request);
    respond(response, answerTo(request));
  });
  const port = Number(new URL(site.origin).port);
  const host = (number: number): string => `site-${number}.example:${port}`;
  return {
    port,
    url: (number, path) => `http://${host(number)}${path}`,
    asked,
    count: (number) => asked.filter((each) => each.host === host(number)).length,
    [Symbol.asyncDispose]: () => site.close(),
  };
}

/** Every name is this machine. */
export const everyNameIsLocal: LookupFunction = (_hostname, { all }, callback) => {
  if (all === true) callback(null, [{ address: '127.0.0.1', family: 4 }]);
  else callback(null, '127.0.0.1', 4);
};
