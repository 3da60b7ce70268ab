/** URLs as crawlers meet them: a page's links lie together, and lead to a few places of its own site. */
export function bulkUrls(origins: readonly string[], count: number): string[] {
  const perPage = 20;
  return Array.from({ length: count }, (_, index) => {
    const page = Math.floor(index / perPage);
    const origin = origins[(page * 7) % origins.length];
    return `${origin}/${index % 5 === 0 ? 'private' : 'section'}/article-${page}/${index}?ref=list`;
  });
}

/** So many origins at one port: each address of 127.0.0.0/8 is one of its own. */
export function loopbackOrigins(count: number, port: number): string[] {
  return Array.from({ length: count }, (_, index) => `http://127.1.${index >> 8}.${index & 0xff}:${port}`);
}
