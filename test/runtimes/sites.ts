import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { framings, namesOfFramings } from './framings.ts';

/** What a site answers to a path. */
export interface PlannedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly gzip?: boolean;
  /** The name of an answer of {@link framings}. It is sent byte by byte, and the connection closed. */
  readonly framing?: string;
  /** Answers after so many milliseconds. `null`: never. */
  readonly afterMs?: number | null;
}

/** The answers of a site by path. Other paths are 404. */
export type Plan = Readonly<Record<string, PlannedAnswer>>;

/** A request that a site has received. */
export interface SeenRequest {
  readonly path: string;
  readonly userAgent: string;
}

interface PlannedSite {
  readonly server: Server;
  plan: Plan;
  readonly requests: SeenRequest[];
}

export interface Sites extends AsyncDisposable {
  /** Where the contract asks for sites, changes their plans, and reads their requests. */
  readonly control: string;
}

/**
 * Loopback sites for a runtime that cannot open servers itself, made over HTTP: `POST /` with a plan gives
 * `{ origin }`; `PUT /` with `{ origin, plan }` changes it; `GET /?origin=…` gives the requests that came, `GET /?framings=page` the names of the
 * framings that a page can tell, `GET /?framings` those of all. Pages in a
 * browser may read all of it (CORS).
 */
export async function startSites(): Promise<Sites> {
  const sites = new Map<string, PlannedSite>();
  const control = await listening(async (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://control');
    const sent: unknown = request.method === 'GET' ? undefined : JSON.parse(await text(request));
    const json = (value: unknown): void => void response.end(JSON.stringify(value));
    if (request.method === 'POST') {
      const site = await openSite(sent as Plan);
      const origin = originOf(site.server);
      sites.set(origin, site);
      json({ origin });
    } else if (request.method === 'PUT') {
      const { origin, plan } = sent as { origin: string; plan: Plan };
      const site = sites.get(origin);
      if (site !== undefined) site.plan = plan;
      json({ origin });
    } else if (searchParams.has('framings')) json(namesOfFramings(searchParams.get('framings') === 'page'));
    else json(sites.get(searchParams.get('origin') ?? '')?.requests ?? []);
  });
  return {
    control: originOf(control),
    async [Symbol.asyncDispose]() {
      for (const server of [control, ...[...sites.values()].map((site) => site.server)]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

async function openSite(plan: Plan): Promise<PlannedSite> {
  const requests: SeenRequest[] = [];
  const server = await listening((request, response) => {
    const path = request.url ?? '/';
    requests.push({ path, userAgent: request.headers['user-agent'] ?? '' });
    const planned = site.plan[path] ?? { status: 404 };
    if (planned.afterMs === null) return;
    setTimeout(() => answer(response, planned), planned.afterMs ?? 0);
  });
  const site: PlannedSite = { server, plan, requests };
  return site;
}

function answer(
  response: ServerResponse,
  { status = 200, headers, body = '', gzip, framing }: PlannedAnswer,
): void {
  if (framing !== undefined) {
    response.socket?.end(framings[framing] ?? '');
    return;
  }
  const coding = gzip === true ? { 'content-encoding': 'gzip' } : {};
  response.writeHead(status, { 'content-type': 'text/plain', ...headers, ...coding });
  response.end(gzip === true ? gzipSync(body) : body);
}

/** A server that answers preflights of CORS, lets every page read its answers, and closes no idle connection. */
async function listening(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('access-control-allow-methods', '*');
    response.setHeader(
      'access-control-allow-headers',
      request.headers['access-control-request-headers'] ?? '*',
    );
    response.setHeader('access-control-expose-headers', '*');
    if (request.method === 'OPTIONS') response.writeHead(204).end();
    else handle(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

function originOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Expected a server on a port');
  return `http://127.0.0.1:${address.port}`;
}
