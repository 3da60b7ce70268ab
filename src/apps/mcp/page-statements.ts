import type { HeaderFields } from '../../core/base/index.ts';
import type { Purpose } from '../../core/decision/index.ts';
import { type MetaTag, pageDirectives, type PageDirectiveSource } from '../../core/rules/index.ts';

/** What is known of a page when it is asked what it says of itself. */
interface StatedPage {
  readonly purpose: Purpose;
  /** The name that directives for one agent are compared with. */
  readonly agent: string;
  readonly headers: HeaderFields;
  /** Absent when the page is HTML that could not be read. */
  readonly meta: readonly MetaTag[] | undefined;
}

/**
 * Says what a page states of itself against its use: `noai`, `tdm-reservation`, and for search `noindex`. These are reported
 * and not enforced, since no standard says which purposes they mean.
 */
export function statementNote({ purpose, agent, headers, meta }: StatedPage): string | undefined {
  const { sources } = pageDirectives({ headers, agent, ...(meta && { meta }) });
  const against = sources.filter((source) => isAgainst(source, purpose)).map(inWords);
  const unread = meta === undefined ? ' Its meta tags could not be read.' : '';
  if (against.length === 0) return unread.trim() || undefined;
  return (
    `The page itself says ${[...new Set(against)].join(' and ')}. ` +
    `This is noted, not refused: decide whether it means your purpose, ${purpose}.${unread}`
  );
}

function isAgainst({ directive, value, understood }: PageDirectiveSource, purpose: Purpose): boolean {
  if (!understood) return false;
  if (directive === 'tdm-reservation') return value === '1';
  return directive === 'noai' || (purpose === 'search' && (directive === 'noindex' || directive === 'none'));
}

function inWords({ from, field, directive }: PageDirectiveSource): string {
  const what = directive === 'tdm-reservation' ? `"${directive}: 1"` : `"${directive}"`;
  if (from === 'meta') return `${what} (meta tag ${field})`;
  return `${what} (header field ${field === 'x-robots-tag' ? 'X-Robots-Tag' : field})`;
}
