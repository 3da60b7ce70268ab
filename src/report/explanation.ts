import { type Dialect, explain, type Explanation, type RobotsFile } from '../rules/index.ts';
import { parseRobots } from '../rules/parse.ts';
import { profileNames, profiles } from '../lifecycle/profile.ts';
import type { Decision, OriginPolicy, ProfileState } from '../decision/index.ts';
import type { Agent } from '../rules/agent-tokens.ts';
import type { ReportedDecision } from './target-result.ts';

/** A decision with everything that it depends on. */
export interface UrlExplanation {
  readonly decision: ReportedDecision;
  /** The rule that came closest to deciding, and why it lost. */
  readonly runnerUp?: Explanation['runnerUp'];
  /** The file whose rules decided. */
  readonly file?: RobotsFile;
  /** The policy of the origin; absent when the decision was made with a file on disk. */
  readonly policy?: OriginPolicy;
  /** The decisions that other profiles make on the same file, responses and failures. */
  readonly underProfiles: readonly ProfileDecision[];
}

/** The decision of a profile. `allowed` is absent when the profile cannot decide. */
export type ProfileDecision = ProfileState & {
  readonly allowed?: boolean;
  /** Line of the rule that would decide. */
  readonly line?: number;
};

/** The part of a client that explains. */
interface ExplainingClient {
  policy(
    url: string,
    options: { readonly signal: AbortSignal; readonly agent?: Agent },
  ): Promise<OriginPolicy>;
  check(url: string, agent: Agent | undefined, options: { readonly signal: AbortSignal }): Promise<Decision>;
}

/** An explanation of what a client decides. */
export interface ClientExplanation extends UrlExplanation {
  readonly decision: Decision;
  readonly policy: OriginPolicy;
}

/** Asks a client for the decision about a URL, and for everything that it depends on. */
export async function explainUrl(
  client: ExplainingClient,
  url: string,
  { agent, signal }: { readonly agent: Agent | undefined; readonly signal: AbortSignal },
): Promise<ClientExplanation> {
  const policy = await client.policy(url, agent === undefined ? { signal } : { signal, agent });
  return explainServed(await client.check(url, agent, { signal }), policy);
}

function explainServed(decision: Decision, policy: OriginPolicy): ClientExplanation {
  const { rules, file } = policy;
  const held = decision.state === 'rules' || decision.state === 'last-good' ? rules : undefined;
  const others = policy.underProfiles.filter(({ profile }) => profile !== policy.profile);
  return {
    decision,
    ...runnerUpOf(decision, held),
    ...(held === undefined ? {} : { file: held }),
    policy,
    underProfiles: others.map((stateUnderProfile) => decisionUnder(stateUnderProfile, decision, file?.body)),
  };
}

/** Explains a decision made with a file on disk. Every profile applies its rules, as nothing was fetched. */
export function explainFile(decision: ReportedDecision, file: RobotsFile, body: Uint8Array): UrlExplanation {
  const others = profileNames.filter((profile) => profile !== decision.profile);
  return {
    decision,
    file,
    ...runnerUpOf(decision, file),
    underProfiles: others.map((profile) => decisionUnder({ profile, state: 'rules' }, decision, body)),
  };
}

function runnerUpOf(
  { url, agent, reason }: ReportedDecision,
  file: RobotsFile | undefined,
): Pick<UrlExplanation, 'runnerUp'> {
  const runnerUp = reason === 'rule' && file ? explain(file, url, agent).runnerUp : undefined;
  return runnerUp === undefined ? {} : { runnerUp };
}

function decisionUnder(
  stateUnderProfile: ProfileState,
  { url, agent, reason }: ReportedDecision,
  body: Uint8Array | undefined,
): ProfileDecision {
  if (reason === 'robots-txt') return { ...stateUnderProfile, allowed: true };
  switch (stateUnderProfile.state) {
    case 'allow-all':
      return { ...stateUnderProfile, allowed: true };
    case 'disallow-all':
      return { ...stateUnderProfile, allowed: false };
    case 'unknown':
      return stateUnderProfile;
    case 'rules':
    case 'last-good': {
      if (body === undefined) return stateUnderProfile;
      const verdict = reading(body, profiles[stateUnderProfile.profile].dialect).check(url, agent);
      const line = 'rule' in verdict ? { line: verdict.rule.line } : {};
      return { ...stateUnderProfile, allowed: verdict.allowed, ...line };
    }
  }
}

function reading(body: Uint8Array, dialect: Dialect): RobotsFile {
  return parseRobots(body, { dialect });
}
