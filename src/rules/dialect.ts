/** Reading of the file format. DESIGN: `rfc9309` is the default everywhere. */
export type Dialect = 'rfc9309' | 'google' | 'koster-1996' | 'robotstxt-1994';
