import type { Decision } from '../decision/index.ts';
import { printable, whySentence } from '../report/text/index.ts';

/** The reason of a decision as a sentence, with the time to ask again. */
export function reasonSentence(decision: Decision): string {
  const { retryAt } = decision;
  const again =
    retryAt === undefined ? '' : `. Ask again after ${new Date(retryAt).toISOString()}, not before`;
  return `${whatDecides(decision)}${again}.`;
}

function whatDecides(decision: Decision): string {
  const { agent, group, reason, rule } = decision;
  const name = printable(agent);
  const ofCopy = decision.state === 'last-good' ? ` (${whySentence(decision)})` : '';
  if (reason === 'rule') {
    const directive = rule.directive === 'allow' ? 'Allow' : 'Disallow';
    const whose = `in the group for "${printable(group.agent)}"`;
    return `Line ${rule.line} of robots.txt, "${directive}: ${printable(rule.pattern)}" ${whose}, decides for ${name}${ofCopy}`;
  }
  if (reason === 'no-rule') return `No rule for ${name} matches, so it is allowed${ofCopy}`;
  if (reason === 'no-group') return `robots.txt has no group for ${name}, so it is allowed${ofCopy}`;
  return whySentence(decision) ?? reason;
}
