import { brotliCompressSync, gzipSync } from 'node:zlib';
import {
  type RobotsResponseHeaders,
  classifyStatus,
  type Outcome,
  type Profile,
} from '../../src/core/lifecycle/index.ts';
import type { Steps } from '../support/socket-steps.ts';
import type { Chance } from '../support/random.ts';

/** What one attempt meets, twice: as the bytes that the server sends, and as the outcome that the model expects. */
export interface Behaviour {
  readonly name: string;
  /** Answers a request. */
  readonly runSteps: (request: {
    readonly path: string;
    readonly ifNoneMatch: string | undefined;
    /** Codings that the request asks for. */
    readonly acceptEncoding: string;
  }) => Steps;
  /** What the attempt comes to. `sentEtag`: what the client knows of this very URL, if it asks with conditions. */
  readonly outcome: (profile: Profile, sentEtag: string | undefined) => Outcome;
  /** Requests that the attempt takes. */
  readonly requests: (profile: Profile) => number;
  /** The connection breaks before an answer: on one that was kept, the request is made once more. */
  readonly breaks?: true;
}

/** A file that is found at another origin, whose own it then is as well. */
export interface Move {
  readonly from: Behaviour;
  readonly at: Behaviour;
}

const encoder = new TextEncoder();

/** Whole files that differ in what they say of the paths that are asked about. */
const FILES: readonly string[] = [
  'User-agent: *\nDisallow: /a\n',
  'User-agent: *\nDisallow: /\nAllow: /a/b\n',
  'User-agent: SoakBot\nDisallow: /b\nCrawl-delay: 2\n\nUser-agent: *\nDisallow: /\n',
  'User-agent: OtherBot\nDisallow: /\n',
  'User-agent: *\nDisallow: /*.pdf$\nAllow: /a\nDisallow: /a/b*c\n',
  '',
  '\uFEFFUser-agent: soakbot\r\nDisallow: /%61/\r\n\r\nAllow: /b',
  '<!doctype html><title>Home</title>',
];

const LIFETIMES: readonly (string | undefined)[] = [
  undefined,
  undefined,
  'max-age=60',
  'max-age=7200',
  'no-store',
];

export function anyBehaviour(chance: Chance, origin: string): Behaviour {
  const makers: readonly ((chance: Chance, origin: string) => Behaviour)[] = [
    rules,
    rules,
    rules,
    rules,
    status,
    status,
    status,
    chain,
    loop,
    strayed,
    broken,
    garbled,
    unasked304,
    // Costs the whole deadline, in real time.
    ...(chance.happens(0.03) ? [silent] : []),
  ];
  return chance.pick(makers)(chance, origin);
}

const head = (code: number, fields: string, length: number | undefined): string =>
  `HTTP/1.1 ${code} Status\r\n${fields}${length === undefined ? '' : `content-length: ${length}\r\n`}\r\n`;

/** How an attempt without redirects ends. */
const directly = (origin: string): { readonly finalUrl: string; readonly hops: number } => ({
  finalUrl: `${origin}/robots.txt`,
  hops: 0,
});

type Route = ReturnType<typeof directly>;

const success = (
  route: Route,
  body: Uint8Array,
  status = 200,
  headers: RobotsResponseHeaders = {},
): Outcome => ({ kind: 'success', status, headers, body, truncated: false, ...route });

const unreachable = (route: Route, error: string, status?: number): Outcome => ({
  kind: 'unreachable',
  ...(status === undefined ? {} : { status }),
  error,
  ...route,
});

/** One request, answered alike under every profile. */
const once = (name: string, steps: Steps, outcome: Outcome): Behaviour => ({
  name,
  runSteps: () => steps,
  outcome: () => outcome,
  requests: () => 1,
});

function rules(chance: Chance, origin: string): Behaviour {
  const file = chance.pick(FILES);
  const cacheControl = chance.pick(LIFETIMES);
  const etag = chance.happens(0.5) ? `"${file.length}-${cacheControl ?? ''}"` : undefined;
  const code = chance.pick([200, 200, 200, 203, 206]);
  const coding = chance.pick(['', '', 'gzip', 'br']);
  const bytes = encoder.encode(file);
  const coded = coding === 'gzip' ? gzipSync(bytes) : coding === 'br' ? brotliCompressSync(bytes) : bytes;
  const kept = cacheControl === undefined ? '' : `cache-control: ${cacheControl}\r\n`;
  const fields = `${kept}${etag === undefined ? '' : `etag: ${etag}\r\n`}`;
  const headers: RobotsResponseHeaders = {
    ...(cacheControl === undefined ? {} : { cacheControl }),
    ...(etag === undefined ? {} : { etag }),
  };
  const route = directly(origin);
  return {
    name: 'rules',
    runSteps: ({ ifNoneMatch, acceptEncoding }) => {
      if (etag !== undefined && ifNoneMatch === etag) return [head(304, fields, undefined)];
      if (coding === '' || !acceptEncoding.includes(coding)) return [head(code, fields, bytes.length), bytes];
      return [head(code, `${fields}content-encoding: ${coding}\r\n`, coded.length), coded];
    },
    outcome: (_profile, sentEtag) =>
      etag !== undefined && sentEtag === etag
        ? { kind: 'not-modified', status: 304, headers, ...route }
        : success(route, bytes, code, headers),
    requests: () => 1,
  };
}

function status(chance: Chance, origin: string): Behaviour {
  const code = chance.pick([401, 403, 404, 410, 429, 451, 500, 502, 503, 204, 300, 600, 999]);
  const retryAfter = chance.pick([undefined, undefined, '5', '7200', '999999999', 'soon']);
  const fields = retryAfter === undefined ? '' : `retry-after: ${retryAfter}\r\n`;
  const route = directly(origin);
  return {
    name: `status ${code}`,
    runSteps: () => [head(code, fields, code === 204 ? undefined : 0)],
    outcome: (profile) => {
      const kind = code === 204 ? 'rules' : classifyStatus(code, profile);
      if (kind === 'rules') return success(route, new Uint8Array(), code);
      if (kind !== 'unreachable') return { kind, status: code, headers: {}, ...route };
      const seconds = Math.min(Number(retryAfter), 86_400);
      return {
        ...unreachable(route, 'ERR_ROBOTS_STATUS', code),
        ...(Number.isNaN(seconds) ? {} : { retryAfterMs: seconds * 1_000 }),
      };
    },
    requests: () => 1,
  };
}

/** A redirect to the robots.txt of `to`, which has rules. */
export function move(chance: Chance, to: string): Move {
  const bytes = encoder.encode(chance.pick(FILES));
  const moved = success({ finalUrl: `${to}/robots.txt`, hops: 1 }, bytes);
  return {
    from: once('moved', [head(308, `location: ${to}/robots.txt\r\n`, 0)], moved),
    at: once('moved to', [head(200, '', bytes.length), bytes], success(directly(to), bytes)),
  };
}

/** Redirects within the origin, then rules. */
function chain(chance: Chance, origin: string): Behaviour {
  const length = 1 + chance.below(7);
  const bytes = encoder.encode(chance.pick(FILES));
  return {
    name: `chain of ${length}`,
    runSteps: ({ path }) => {
      const step = path === '/robots.txt' ? 0 : Number(path.slice(2));
      return step < length
        ? [head(301, `location: /r${step + 1}\r\n`, 0)]
        : [head(200, '', bytes.length), bytes];
    },
    outcome: (profile) => {
      const followed = Math.min(length, profile.maxRedirects);
      const route = {
        finalUrl: `${origin}/${followed === 0 ? 'robots.txt' : `r${followed}`}`,
        hops: followed,
      };
      return followed === length ? success(route, bytes) : endless(profile, 'too-many-redirects', 301, route);
    },
    requests: (profile) => Math.min(length, profile.maxRedirects) + 1,
  };
}

function endless(
  profile: Profile,
  reason: 'too-many-redirects' | 'redirect-loop',
  code: number,
  route: Route,
): Outcome {
  return profile.tooManyRedirects === 'unavailable'
    ? { kind: 'unavailable', status: code, reason, headers: {}, ...route }
    : unreachable(route, 'ERR_ROBOTS_REDIRECT_LIMIT', code);
}

function loop(_chance: Chance, origin: string): Behaviour {
  return {
    name: 'loop',
    runSteps: ({ path }) => [head(302, `location: ${path === '/robots.txt' ? '/b' : '/robots.txt'}\r\n`, 0)],
    outcome: (profile) => endless(profile, 'redirect-loop', 302, { finalUrl: `${origin}/b`, hops: 1 }),
    requests: () => 2,
  };
}

/** A redirect to nowhere that can be followed. */
function strayed(chance: Chance, origin: string): Behaviour {
  const [location, error] = chance.pick([
    ['', 'LOCATION'],
    ['http://', 'LOCATION'],
    ['ftp://127.0.0.1/robots.txt', 'SCHEME'],
    ['javascript:void(0)', 'SCHEME'],
  ] as const);
  return once(
    `redirect to ${JSON.stringify(location)}`,
    [head(302, `location: ${location}\r\n`, 0)],
    unreachable(directly(origin), `ERR_ROBOTS_REDIRECT_${error}`, 302),
  );
}

function broken(chance: Chance, origin: string): Behaviour {
  const step = chance.pick(['end', 'reset'] as const);
  const [before, code] = chance.pick([
    ['', undefined],
    ['HTTP/1.1 200 OK\r\ncont', undefined],
    ['HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\nUser-agent: *\n', 200],
    ['HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n', 200],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nff\r\nAllow: /\n', 200],
  ] as const);
  return {
    ...once(
      `${step} after ${before.length} bytes`,
      before === '' ? [step] : [before, step],
      unreachable(directly(origin), 'UND_ERR_SOCKET', code),
    ),
    ...(code === undefined ? { breaks: true } : {}),
  };
}

function garbled(chance: Chance, origin: string): Behaviour {
  const [answer, code] = chance.pick([
    ['User-agent: *\nAllow: /\n', undefined],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nAllow: /\r\n0\r\n\r\n', 200],
    ['HTTP/1.1 200 OK\r\ncontent-encoding: compress\r\ncontent-length: 9\r\n\r\nAllow: /\n', 200],
    ['HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9\r\n\r\nAllow: /\n', 200],
    ['HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n9\r\nAllow: /\n\r\n0\r\n\r\n', 200],
    [
      'HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 27\r\n\r\n;User-agent: *\nDisallow: /\n',
      200,
    ],
    ['HTTP/1.1 206 Part\r\ncontent-range: bytes 0-8/1000\r\ncontent-length: 9\r\n\r\nAllow: /\n', 206],
  ] as const);
  return once(`garbled ${code ?? ''}`, [answer], unreachable(directly(origin), 'ERR_ROBOTS_MALFORMED', code));
}

function unasked304(_chance: Chance, origin: string): Behaviour {
  const route = directly(origin);
  return {
    name: '304',
    runSteps: () => [head(304, 'etag: "?"\r\n', undefined)],
    outcome: (_profile, sentEtag) =>
      sentEtag === undefined
        ? unreachable(route, 'ERR_ROBOTS_NOT_MODIFIED', 304)
        : { kind: 'not-modified', status: 304, headers: { etag: '"?"' }, ...route },
    requests: () => 1,
  };
}

const silent = (_chance: Chance, origin: string): Behaviour =>
  once('silence', [], unreachable(directly(origin), 'ERR_ROBOTS_DEADLINE'));
