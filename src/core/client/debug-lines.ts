import type { DecisionMessage } from '../decision/index.ts';
import { printable, withoutUserinfo } from '../base/printable.ts';
import type { FetchMessage } from './attempts.ts';

/** `attempt https://example.com/robots.txt: success, 200, 33 bytes, 12 ms`. */
export function attemptLine({ url, outcome, durationMs }: FetchMessage): string {
  const facts: (string | undefined)[] =
    outcome === undefined
      ? ['given up']
      : [
          outcome.kind,
          outcome.status === undefined ? undefined : String(outcome.status),
          outcome.kind === 'unreachable' ? outcome.error : undefined,
          outcome.kind === 'success' ? `${outcome.body.length} bytes` : undefined,
        ];
  const known = facts.filter((fact) => fact !== undefined);
  return `attempt ${printable(url)}: ${[...known, `${durationMs} ms`].join(', ')}`;
}

/** `disallowed https://example.com/private for ExampleBot: rule, line 2 (disallow: /private), from memory`. */
export function decisionLine({ decision }: DecisionMessage): string {
  const { url, agent, allowed, reason, rule, robots } = decision;
  const verdict = allowed ? 'allowed' : 'disallowed';
  const line = rule && `, line ${rule.line} (${rule.directive}: ${printable(rule.pattern)})`;
  return `${verdict} ${printable(withoutUserinfo(url))} for ${printable(agent)}: ${reason}${line ?? ''}, from ${robots.source}`;
}
