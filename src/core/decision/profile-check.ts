/** The checks of profiles that come from outside: from options, and from recorded evidence. */
import {
  allOf,
  type Check,
  predicate,
  fields,
  isText,
  listOf,
  textMatching,
  milliseconds,
  nonEmptyText,
  oneOf,
  optional,
  record,
  wholeNumber,
} from '../base/index.ts';
import { profileNames } from '../lifecycle/index.ts';
import { dialects } from '../rules/dialect.ts';

const STATUS_OR_CLASS = /^[1-9](?:\d\d|xx)$/;

const lifetimeMs = wholeNumber(
  1_000,
  Number.MAX_SAFE_INTEGER,
  'a whole number of milliseconds, at least 1000',
);
const pauseMs = wholeNumber(1, Number.MAX_SAFE_INTEGER, 'a whole number of milliseconds, at least 1');
const treatment = oneOf(['allow-all', 'disallow-all']);

const phase: Check = fields({
  untilMs: (value, path) => {
    if (value !== null) milliseconds(value, path);
  },
  withCopy: oneOf(['last-good', 'allow-all', 'disallow-all']),
  withoutCopy: treatment,
  whenSiteReachable: optional(treatment),
});

const ASCENDING = 'phases in ascending order, with `untilMs: null` in the last one only';

/** Whether each phase ends later than the one before, and the last has no end. */
function ascends(phases: unknown): boolean {
  const ends: unknown[] = Array.isArray(phases)
    ? phases.map((each: unknown) => Reflect.get(Object(each), 'untilMs'))
    : [];
  return (
    ends.at(-1) === null &&
    ends.slice(0, -1).every((end, at) => end !== null && (at === 0 || Number(end) > Number(ends[at - 1])))
  );
}

function hasOrderedBounds(value: unknown): boolean {
  const bounds: object = Object(value);
  return Number(Reflect.get(bounds, 'minMs')) <= Number(Reflect.get(bounds, 'maxMs'));
}

const A_PROFILE = `one of ${profileNames.join(', ')}, or a whole profile object`;

/** An object with every field of a profile. */
export const wholeProfile: Check = fields(
  {
    name: nonEmptyText('a name'),
    dialect: oneOf(Object.keys(dialects)),
    status: record(
      textMatching(
        'an object whose keys are a status such as "429" or a class such as "4xx"',
        STATUS_OR_CLASS,
      ),
      oneOf(['rules', 'unavailable', 'restricted', 'unreachable']),
    ),
    maxRedirects: wholeNumber(0, 100, 'a whole number from 0 to 100'),
    tooManyRedirects: oneOf(['unavailable', 'unreachable']),
    disallowedRedirect: oneOf(['followed', 'unavailable']),
    challenge: oneOf(['as-status', 'unreachable']),
    whileUnreachable: allOf(listOf(phase, ASCENDING, 1), predicate(ASCENDING, ascends)),
    lifetime: allOf(
      fields({ defaultMs: lifetimeMs, minMs: lifetimeMs, maxMs: lifetimeMs }),
      predicate('bounds with `minMs` at most `maxMs`', hasOrderedBounds),
    ),
    conditionalRequests: predicate('true or false', (value) => typeof value === 'boolean'),
    robotsRetry: fields({ initialMs: pauseMs, maxMs: pauseMs }),
    retryAfter: fields({ minMs: milliseconds, maxMs: milliseconds }),
    keepCopyOnUnavailableMs: milliseconds,
  },
  A_PROFILE,
);
const profileName = oneOf(profileNames, A_PROFILE);
/** The name of a profile, or a whole one. */
export const profileOrName: Check = (value, path) =>
  (isText(value) ? profileName : wholeProfile)(value, path);
