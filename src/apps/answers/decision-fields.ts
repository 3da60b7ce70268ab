import { fileName, printable } from '../../core/base/index.ts';
import { reasons } from '../../core/decision/describe-decision.ts';
import { whySentence } from './text/reasons.ts';
import {
  agentSentence,
  delaySentence,
  looksSentence,
  purposeSentence,
  retrySentence,
  ruleText,
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
export function fileFields({ robots: { suspect, truncated } }: ReportedDecision): readonly Field[] {
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

export function purposeText({ allowed, reason, usage }: ReportedDecision): string | undefined {
  return usage && allowed && reason !== 'robots-txt' ? purposeSentence(usage) : undefined;
}
