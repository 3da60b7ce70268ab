/** The public surface as types: checked by `npm run typecheck`, never run. */
import { expectTypeOf } from 'vitest';
import {
  canFetch,
  type Decision,
  guardFetch,
  type OriginPolicy,
  type Profile,
  profiles,
  refusalIn,
  type RobotsClientOptions,
  RobotsClient,
  describeDiagnostic,
  type RobotsStore,
} from '../src/index.ts';
import {
  type Diagnostic,
  lint,
  parseRobots,
  type Preference,
  productToken,
  requestRate,
  type RobotsFile,
  usage,
  type Verdict,
} from '../src/core/rules/index.ts';
import type { REASONS } from '../src/core/decision/index.ts';

declare const robots: RobotsClient;
declare const decision: Decision;
declare const verdict: Verdict;

expectTypeOf(robots.canFetch('https://example.com/')).resolves.toEqualTypeOf<boolean>();
expectTypeOf(robots.canFetch(new URL('https://example.com/'), ['a', 'b'])).resolves.toEqualTypeOf<boolean>();
expectTypeOf(robots.check('https://example.com/')).resolves.toEqualTypeOf<Decision>();
expectTypeOf(robots.peek('https://example.com/')).toEqualTypeOf<Decision | undefined>();
expectTypeOf(robots.permits('https://example.com/')).toEqualTypeOf<boolean | undefined>();
expectTypeOf(robots.policy('https://example.com')).resolves.toEqualTypeOf<OriginPolicy>();
expectTypeOf(robots).toExtend<AsyncDisposable>();
expectTypeOf(new Map<string, string>()).not.toExtend<RobotsStore>();
expectTypeOf(canFetch).returns.resolves.toEqualTypeOf<boolean>();
expectTypeOf(profiles.google).toEqualTypeOf<Profile>();
expectTypeOf({ agent: 'x', maxBodyBytes: 600_000 }).toExtend<RobotsClientOptions>();
expectTypeOf<{ agent: number }>().not.toExtend<RobotsClientOptions>();

// A decision is a closed union: what its reason promises is there.
if (decision.reason === 'rule') {
  expectTypeOf(decision.rule.line).toEqualTypeOf<number>();
  expectTypeOf(decision.group.agent).toEqualTypeOf<string>();
  expectTypeOf(decision.allowed).toEqualTypeOf<boolean>();
}
if (decision.reason === 'unreachable') {
  expectTypeOf(decision.allowed).toEqualTypeOf<false>();
  expectTypeOf(decision.retryAt).toEqualTypeOf<number | undefined>();
}
if (decision.reason === 'override') {
  expectTypeOf(decision.because).toEqualTypeOf<string | undefined>();
  if (decision.state !== 'rules') expectTypeOf(decision.because).toEqualTypeOf<string>();
}
if (decision.reason === 'unavailable') expectTypeOf(decision.state).toEqualTypeOf<'allow-all'>();
expectTypeOf<Decision['reason']>().toEqualTypeOf<
  | 'robots-txt'
  | 'rule'
  | 'no-rule'
  | 'no-group'
  | 'unavailable'
  | 'unreachable-expired'
  | 'unreachable-allowed'
  | 'unreachable'
  | 'restricted'
  | 'override'
>();
// The schemas of the service and of the tools name every reason.
expectTypeOf<(typeof REASONS)[number]>().toEqualTypeOf<Decision['reason']>();
if (verdict.reason === 'rule') expectTypeOf(verdict.rule.directive).toEqualTypeOf<'allow' | 'disallow'>();

// A guarded fetch is of the type it wraps, whatever that is.
expectTypeOf(guardFetch(fetch, robots)).toExtend<typeof fetch>();
// An exemption may stand in the call.
expectTypeOf(
  guardFetch(fetch, robots)('https://example.com/', {
    method: 'POST',
    robots: { ignore: true, because: 'owner-consent' },
  }),
).resolves.toEqualTypeOf<Response>();
// @ts-expect-error: a reason is needed
void guardFetch(fetch, robots)('https://example.com/', { robots: { ignore: true } });
expectTypeOf(refusalIn(undefined)?.retryAt).toEqualTypeOf<number | undefined>();
type Narrow = (url: string) => Promise<Response>;
expectTypeOf(guardFetch({} as Narrow, robots)).toExtend<Narrow>();
expectTypeOf(refusalIn).parameter(0).toBeUnknown();
// What is refused for want of an answer knows the way to it as well: the URL that was asked for.

expectTypeOf(parseRobots).parameter(0).toEqualTypeOf<Uint8Array | string>();
expectTypeOf(parseRobots('')).toEqualTypeOf<RobotsFile>();
expectTypeOf(productToken).returns.toEqualTypeOf<string | undefined>();

// @ts-expect-error an agent is text
void robots.canFetch('https://example.com/', 7);
// @ts-expect-error options are known
void new RobotsClient({ agnet: 'x' });

declare const file: RobotsFile;
declare const headers: Headers;
expectTypeOf(lint(file)).toEqualTypeOf<readonly Diagnostic[]>();
expectTypeOf(lint(file, { maxBodyBytes: 1 })).toEqualTypeOf<readonly Diagnostic[]>();
expectTypeOf(describeDiagnostic).parameter(0).toEqualTypeOf<Diagnostic>();
expectTypeOf(requestRate(file, ['a'])).toEqualTypeOf<number | undefined>();
expectTypeOf(usage(file, '/', 'a', { headers })['train-ai']).toEqualTypeOf<Preference>();
