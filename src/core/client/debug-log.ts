import { builtin, printable, withoutUserinfo } from '../base/index.ts';
import type { DecisionMessage } from '../decision/index.ts';
import type { FetchMessage } from '../fetch/index.ts';

let isStarted = false;

/**
 * With `NODE_DEBUG=canfetch` in the environment, writes each attempt and each decision of the process to standard error, as
 * Node's own modules do. The first client starts it.
 */
export function writeDebugLog(log: (format: string, line: string) => void): void {
  const channels = builtin('node:diagnostics_channel');
  if (isStarted || channels === undefined) return;
  isStarted = true;
  channels.subscribe('canfetch:fetch', (message) => log('%s', attemptLine(message as FetchMessage)));
  channels.subscribe('canfetch:decision', (message) => log('%s', decisionLine(message as DecisionMessage)));
}

/** `attempt https://example.com/robots.txt for ExampleBot/1.0: success, 200, 33 bytes, 12 ms`. */
export function attemptLine({ url, client, outcome, durationMs }: FetchMessage): string {
  const facts = [
    outcome?.kind ?? 'given up',
    outcome?.status,
    outcome?.kind === 'unreachable' ? outcome.error : undefined,
    outcome?.kind === 'success' ? `${outcome.body.length} bytes` : undefined,
  ];
  const known = facts.filter((fact) => fact !== undefined);
  const agent = printable(String(Reflect.get(client, 'agent')));
  return `attempt ${printable(url)} for ${agent}: ${[...known, `${durationMs} ms`].join(', ')}`;
}

/** `disallowed https://example.com/private for ExampleBot: rule, line 2 (disallow: /private), from memory`. */
function decisionLine({ decision }: DecisionMessage): string {
  const { url, agent, allowed, reason, rule, robots } = decision;
  const verdict = allowed ? 'allowed' : 'disallowed';
  const line = rule && `, line ${rule.line} (${rule.directive}: ${printable(rule.pattern)})`;
  return `${verdict} ${printable(withoutUserinfo(url))} for ${printable(agent)}: ${reason}${line ?? ''}, from ${robots.source}`;
}
