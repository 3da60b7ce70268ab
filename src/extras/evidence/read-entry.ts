import {
  type Check,
  predicate,
  faultOf,
  isText,
  listOf,
  oneOf,
  optional,
  quote,
  record,
  RobotsEvidenceError,
  wholeNumber,
} from '../../core/base/index.ts';
import { isPurpose, REASONS, wholeProfile } from '../../core/decision/index.ts';
import * as stored from '../../core/store/record/record-schema.ts';
import type { DecisionEntry, EvidenceLine } from '../../core/client/evidence/entry.ts';

/** A line of a type that this version does not know. A later version has written it. */
export interface SkippedLine {
  readonly type: undefined;
  readonly at: number | undefined;
  readonly run: string | undefined;
  readonly n: number | undefined;
}

/**
 * Reads a line.
 *
 * @throws RobotsEvidenceError (`ERR_ROBOTS_EVIDENCE`) for what is no line of evidence.
 */
export function readEntry(text: string, line: number): EvidenceLine | SkippedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new RobotsEvidenceError(
      `Expected line ${line} to be a whole line of evidence in JSON, got ${quote(text)}`,
      { cause },
    );
  }
  // Nearly all lines are decisions, so these take a short way.
  if (isDecision(value)) return value;
  const type: unknown = Reflect.get(Object(value), 'type');
  const check = CHECKS.get(type);
  if (check === undefined && isText(type)) return skipped(value);
  const fault = faultOf(check ?? notAnEntry, value, '');
  if (isLine(value, fault)) return withBody(value);
  throw new RobotsEvidenceError(
    `Expected line ${line} to be an entry of evidence, got ${quote(text)}: ${fault?.message}`,
    { cause: fault },
  );
}

function isLine(_value: unknown, fault: Error | undefined): _value is EvidenceLine {
  return fault === undefined;
}

function skipped(value: unknown): SkippedLine {
  const [at, run, n] = ['at', 'run', 'n'].map((name): unknown => Reflect.get(Object(value), name));
  return {
    type: undefined,
    at: typeof at === 'number' ? at : undefined,
    run: isText(run) ? run : undefined,
    n: typeof n === 'number' ? n : undefined,
  };
}

/** The line with its body as bytes. */
function withBody(line: EvidenceLine): EvidenceLine {
  if (!('body' in line) || line.body === undefined) return line;
  // The check of the line allowed it.
  const written = line.body as unknown as stored.WrittenBody;
  return { ...line, body: stored.bytesOf(written) };
}

/** What {@link isDecision} looks at. */
type Unread = Readonly<Partial<Record<keyof DecisionEntry, unknown>>>;

function isDecision(value: unknown): value is DecisionEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { type, at, run, n, origin, url, agent, profile, allowed, state, reason, by, usage, paused }: Unread =
    value;
  return (
    type === 'decision' &&
    usage === undefined &&
    (paused === undefined || paused === true) &&
    typeof at === 'number' &&
    typeof run === 'string' &&
    typeof n === 'number' &&
    typeof origin === 'string' &&
    typeof url === 'string' &&
    typeof agent === 'string' &&
    typeof profile === 'string' &&
    typeof allowed === 'boolean' &&
    typeof state === 'string' &&
    typeof reason === 'string' &&
    (by === undefined || typeof by === 'number')
  );
}

/** An object with at least these members: a later version may add others. */
function having(members: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    entryObject(value, path);
    for (const [name, check] of Object.entries(members)) {
      check(Reflect.get(Object(value), name), path === '' ? name : `${path}.${name}`);
    }
  };
}

const entryObject = predicate('an object', (value) => typeof value === 'object' && value !== null);
const notAnEntry = predicate('an object with a `type`', () => false);
const text = predicate('a text', isText);
const flag = predicate('true or false', (value) => typeof value === 'boolean');
const onlyTrue = optional(predicate('true', (value) => value === true));
const number = wholeNumber(0, Number.MAX_SAFE_INTEGER, 'a whole number');
const { time, status } = stored;

const ofRun = { at: time, run: text, n: number };
const ofOrigin = { ...ofRun, origin: text };
const ofFile = {
  ...ofOrigin,
  profile: text,
  sha256: optional(stored.sha256),
  body: optional(stored.body),
};

const attempt = having({
  ...ofFile,
  outcome: oneOf(['success', 'not-modified', 'unavailable', 'restricted', 'unreachable']),
  requests: listOf(
    having({ url: text, status: optional(status), location: optional(text) }),
    'a list of requests',
  ),
  status: optional(status),
  error: optional(stored.errorCode),
  reason: optional(stored.unavailableReason),
  headers: optional(stored.headers),
  retryAfterMs: optional(time),
  truncated: onlyTrue,
  suspect: optional(stored.suspect),
  staleAt: optional(time),
  retryAt: optional(time),
  detached: onlyTrue,
  previous: optional(number),
});
const override = having({
  ...ofFile,
  override: oneOf(['text', 'allow', 'disallow']),
  because: optional(text),
  restated: onlyTrue,
});

const usage = having({
  purpose: predicate('a purpose', (value) => isPurpose(value)),
  preference: oneOf(['allow', 'disallow', 'unknown']),
});

/** The checks of lines, by their type. */
const CHECKS: ReadonlyMap<unknown, Check> = new Map<EvidenceLine['type'], Check>([
  [
    'run',
    having({
      ...ofRun,
      version: text,
      profile: text,
      // A profile that decides must be whole.
      profiles: optional(record(text, wholeProfile)),
      agent: predicate('an agent, or a list of agents', (value) => [value].flat().every(isText)),
      from: optional(number),
    }),
  ],
  ['robots', (value, path) => (Reflect.has(Object(value), 'override') ? override : attempt)(value, path)],
  ['stored', having({ ...ofFile, record: stored.recordWithoutBody, detached: onlyTrue, restated: onlyTrue })],
  ['signal', having({ ...ofOrigin, reachable: flag, previous: optional(number) })],
  ['forgotten', having({ ...ofOrigin, reason: oneOf(['invalidated', 'evicted']) })],
  ['ignored', having({ ...ofOrigin, url: text, because: text })],
  [
    'decision',
    having({
      ...ofOrigin,
      url: text,
      agent: text,
      profile: text,
      allowed: flag,
      state: text,
      reason: oneOf(REASONS),
      usage: optional(usage),
      paused: onlyTrue,
      by: optional(number),
    }),
  ],
  [
    'request',
    having({
      ...ofOrigin,
      url: text,
      startedAt: time,
      status: optional(status),
      error: optional(text),
      refused: optional(oneOf(['ERR_ROBOTS_USAGE'])),
      retryAfter: optional(text),
      price: optional(text),
      pacing: optional(having({ defaultDelayMs: number, minDelayMs: number })),
    }),
  ],
  ['deferred', having({ ...ofOrigin, url: text, retryAt: time, delayFrom: text })],
  [
    'pause',
    having({
      ...ofOrigin,
      from: time,
      until: time,
      delayFrom: oneOf(['retry-after', 'back-off']),
      status: optional(status),
      restated: onlyTrue,
    }),
  ],
  ['end', having({ ...ofRun, entries: number, sha256: stored.sha256 })],
]);
