/** What resolv.conf(5) says of names that are not written out; name servers are c-ares' own business. */
export interface ResolverConfiguration {
  /** Domains that are tried behind a name. */
  readonly search: readonly string[];
  /** A name with fewer dots is tried behind every domain before it is tried by itself. */
  readonly ndots: number;
}

export const MAX_RESOLVER_BYTES = 65_536;
const MAX_DOMAINS = 32;
/** resolv.conf(5): "silently capped to 15". */
const MAX_NDOTS = 15;
const MAX_NAME_LENGTH = 253;

/** resolv.conf(5): "The domain and search keywords are mutually exclusive. If more than one instance […] the last instance wins." */
export function parseResolverFile(text: string): ResolverConfiguration {
  let search: readonly string[] = [];
  let ndots = 1;
  for (const line of text.split(/\r\n?|\n/)) {
    const [keyword, ...values] = line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/);
    if (keyword === 'domain') search = values.slice(0, 1);
    if (keyword === 'search') search = values.slice(0, MAX_DOMAINS);
    if (keyword !== 'options') continue;
    const dots = /(?:^| )ndots:(\d+)(?: |$)/.exec(values.join(' '))?.[1];
    if (dots !== undefined) ndots = Math.min(Number(dots), MAX_NDOTS);
  }
  const domains = search.map((domain) => domain.replace(/^\.+|\.+$/g, '').toLowerCase());
  return { search: domains.filter((domain) => domain !== ''), ndots };
}

/** The names that `name` may stand for, in the order they are tried. A dot at the end says that it stands for itself. */
export function candidates(name: string, { search, ndots }: ResolverConfiguration): readonly string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const longer = search
    .map((domain) => `${name}.${domain}`)
    .filter((candidate) => candidate.length <= MAX_NAME_LENGTH);
  const dots = name.split('.').length - 1;
  return dots >= ndots ? [name, ...longer] : [...longer, name];
}
