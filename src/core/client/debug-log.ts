import { builtin } from '../base/index.ts';
import type { DecisionMessage } from '../decision/index.ts';
import type { FetchMessage } from './attempts.ts';

let isStarted = false;

/**
 * With `NODE_DEBUG=canfetch` in the environment, writes each attempt and each decision of the process to standard error, as
 * Node's own modules do. The first client starts it. The formatter is loaded only then.
 */
export function startDebugLog(): void {
  if (isStarted) return;
  isStarted = true;
  const log = builtin('node:util')?.debuglog('canfetch');
  const channels = builtin('node:diagnostics_channel');
  if (log?.enabled !== true || channels === undefined) return;
  const lines = import('./debug-lines.ts');
  channels.subscribe('canfetch:fetch', (message) => {
    void lines.then(({ attemptLine }) => log('%s', attemptLine(message as FetchMessage)));
  });
  channels.subscribe('canfetch:decision', (message) => {
    void lines.then(({ decisionLine }) => log('%s', decisionLine(message as DecisionMessage)));
  });
}
