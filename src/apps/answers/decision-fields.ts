import { fileName, printable, quoted } from '../../core/base/index.ts';
import { reasons } from '../../core/decision/describe-decision.ts';
import { usage } from '../../core/rules/index.ts';
import { familyNote } from './crawler-families.ts';
import type { UrlExplanation } from './explanation.ts';
import { attemptFields, sizeSentence } from './policy-fields.ts';
import { whySentence } from './text/reasons.ts';
import {
  agentSentence,
  delaySentence,
  looksSentence,
  purposeSentence,
  retrySentence,
  ruleText,
  usageText,
} from './text/sentences.ts';
import { ago, count, duration, type Field } from './text/layout.ts';
import type { ReportedDecision } from './verdict.ts';

/** A decision: the agent, the deciding rule and the robots.txt. */
export function decisionFields(decision: ReportedDecision, now: number): readonly Field[] {
  return [
    ...answerFields(decision),
    ['use', purposeText(decision)],
    ['why', whySentence(decision)],
    ['robots', robotsText(decision)],
    ...fileFields(decision),
    ['cache', cacheText(decision, now)],
    ['delay', delaySentence(decision.crawlDelayMs)],
    ['retry', retrySentence(decision, now)],
  ];
}

/** The agent, and the rule that decides. */
export function answerFields({ agent, group, reason, rule }: ReportedDecision): readonly [Field, Field] {
  const noRule = reason === 'no-rule' ? `${reasons[reason].what}, so ${reasons[reason].so}` : undefined;
  return [
    ['agent', agentSentence(agent, group, reason === 'no-group')],
    ['rule', rule === undefined ? noRule : ruleText(rule)],
  ];
}

/** What is odd about the file. */
function fileFields({ robots: { suspect, truncated } }: ReportedDecision): readonly Field[] {
  return [
    ['looks', looksSentence(suspect)],
    ['file', truncated && 'is longer than what is read; rules after that limit are ignored'],
  ];
}

function robotsText({ robots, reason }: ReportedDecision): string | undefined {
  if (!('finalUrl' in robots)) return fileName(robots.file);
  if (reason === 'robots-txt') return undefined;
  const way = robots.hops === 0 ? [] : [`${count(robots.hops, 'redirect')} from ${printable(robots.url)}`];
  const status = robots.status === undefined ? [] : [String(robots.status)];
  return [printable(robots.finalUrl), ...status, ...way].join('  ');
}

function cacheText({ robots }: ReportedDecision, now: number): string | undefined {
  if (!('finalUrl' in robots) || robots.fetchedAt === undefined) return undefined;
  const { fetchedAt, staleAt } = robots;
  const fresh =
    staleAt === undefined ? '' : staleAt > now ? `, fresh for ${duration(staleAt - now)}` : ', stale';
  return `fetched ${ago(fetchedAt, now)}${fresh}`;
}

function purposeText({ allowed, reason, usage }: ReportedDecision): string | undefined {
  return usage && allowed && reason !== 'robots-txt' ? purposeSentence(usage) : undefined;
}

/** A decision with everything that it depends on. */
export function explanationFields(explanation: UrlExplanation, now: number): readonly Field[] {
  const { decision } = explanation;
  return [
    ...answerFields(decision),
    ['note', familyNote(decision, explanation.file)],
    ...circumstanceFields(explanation),
    ...originFields(explanation, now),
    ['delay', delaySentence(decision.crawlDelayMs)],
    ['purpose', purposeText(decision)],
    ['use', usageSentence(explanation)],
  ];
}

function circumstanceFields({ runnerUp, nearMiss, runsOn, star }: UrlExplanation): readonly Field[] {
  const starRule = star?.rule === undefined ? '' : `, by ${ruleText(star.rule)}`;
  return [
    ['beats', runnerUp && `${ruleText(runnerUp.rule)}, ${whyLost[runnerUp.lost]}`],
    [
      'but',
      star &&
        `"*" is ${star.allowed ? 'allowed' : 'disallowed'}${starRule}; a group that names the agent replaces it`,
    ],
    [
      'group',
      runsOn &&
        `it began on line ${runsOn.from}: ${quoted(runsOn.directive)} on line ${runsOn.line} does not end a group`,
    ],
    ['close', nearMiss && `${ruleText(nearMiss.rule)}, ${whyMissed[nearMiss.differs]}`],
  ];
}

const whyMissed = {
  case: 'but for the case of its letters',
  slash: 'but for the slash at the end of the path',
  start: 'but for what is before it: rules start at the root of the site',
} as const;

const whyLost = {
  shorter: 'which is shorter',
  tie: 'which is as long: allow goes before disallow, and the first line before others',
  later: 'which comes later: the first match decides',
} as const;

function originFields({ decision, policy }: UrlExplanation, now: number): readonly Field[] {
  if (policy === undefined) {
    if ('finalUrl' in decision.robots) return [];
    return [['robots', fileName(decision.robots.file)], ...fileFields(decision)];
  }
  if (decision.reason === 'robots-txt') return [['why', whySentence(decision)]];
  const { file } = policy;
  return [...attemptFields(policy, now), ['file', file && sizeSentence(file)]];
}

/** Usage preferences that the site states for the page; `undefined` when it states none. They do not affect fetching. */
function usageSentence({ file, decision }: UrlExplanation): string | undefined {
  if (file === undefined || decision.reason === 'robots-txt') return undefined;
  return usageText(usage(file, decision.url, decision.agent));
}
