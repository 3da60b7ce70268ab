import { usage } from '../../rules/index.ts';
import { printable } from '../../report/text/printable.ts';
import type { UrlExplanation } from '../../report/explanation.ts';

const PURPOSES = ['train-ai', 'search', 'ai-input'] as const;

/** What the site states about the use of the page, beside whether it may be fetched; undefined when it says nothing. */
export function usageSentence({ file, ruling }: UrlExplanation): string | undefined {
  if (file === undefined || ruling.reason === 'robots-txt') return undefined;
  const stated = usage(file, ruling.url, ruling.agent);
  if (stated.sources.length === 0) return undefined;
  const purposes = PURPOSES.flatMap((purpose) =>
    stated[purpose] === 'unknown' ? [] : [`${purpose} ${stated[purpose] === 'allow' ? 'yes' : 'no'}`],
  );
  const lines = stated.sources.flatMap(({ line }) => (line === undefined ? [] : [line]));
  const parts = [
    ...purposes,
    ...(stated.use === undefined ? [] : [`use ${stated.use}`]),
    ...stated.licenses.slice(0, 3).map((license) => `licence ${printable(license)}`),
  ];
  const what = parts.length === 0 ? 'nothing that can be read' : parts.join(', ');
  return `${what} (${lines.length === 1 ? 'line' : 'lines'} ${lines.slice(0, 5).join(', ')}; reported, not enforced)`;
}
