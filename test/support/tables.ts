/** Tables of Google's page that its editions, and the dialects `rfc9309` and `google`, share. */

export interface PathMatches {
  readonly pattern: string;
  readonly matching: readonly string[];
  readonly others: readonly string[];
}

const FISH = [
  '/fish',
  '/fish.html',
  '/fish/salmon.html',
  '/fishheads',
  '/fishheads/yummy.html',
  '/fish.php?id=anything',
];

/** Google's page, "URL matching based on path values". */
export const googlePathMatches: readonly PathMatches[] = [
  { pattern: '/', matching: ['/', '/any', '/any/lower'], others: [] },
  { pattern: '/*', matching: ['/', '/any', '/any/lower'], others: [] },
  { pattern: '/$', matching: ['/'], others: ['/any', '/any/lower', '/?'] },
  { pattern: '/fish', matching: FISH, others: ['/Fish.asp', '/catfish', '/?id=fish', '/desert/fish'] },
  { pattern: '/fish*', matching: FISH, others: ['/Fish.asp', '/catfish', '/?id=fish', '/desert/fish'] },
  {
    pattern: '/fish/',
    matching: ['/fish/', '/fish/?id=anything', '/fish/salmon.htm'],
    others: ['/fish', '/fish.html', '/animals/fish/', '/Fish/Salmon.asp'],
  },
  {
    pattern: '/*.php',
    matching: [
      '/index.php',
      '/filename.php',
      '/folder/filename.php',
      '/folder/filename.php?parameters',
      '/folder/any.php.file.html',
      '/filename.php/',
    ],
    others: ['/', '/windows.PHP'],
  },
  {
    pattern: '/*.php$',
    matching: ['/filename.php', '/folder/filename.php'],
    others: ['/filename.php?parameters', '/filename.php/', '/filename.php5', '/windows.PHP'],
  },
  {
    pattern: '/fish*.php',
    matching: ['/fish.php', '/fishheads/catfish.php?parameters'],
    others: ['/Fish.PHP'],
  },
];

export interface Situation {
  readonly target: string;
  readonly allow: string;
  readonly disallow: string;
  readonly applicable: 'allow' | 'disallow';
}

/** Google's page, "Sample situations" 1 to 6. */
export const googleSituations: readonly Situation[] = [
  { target: '/page', allow: '/p', disallow: '/', applicable: 'allow' },
  { target: '/folder/page', allow: '/folder', disallow: '/folder', applicable: 'allow' },
  { target: '/page.htm', allow: '/page', disallow: '/*.htm', applicable: 'disallow' },
  { target: '/page.php5', allow: '/page', disallow: '/*.ph', applicable: 'allow' },
  { target: '/', allow: '/$', disallow: '/', applicable: 'allow' },
  { target: '/page.htm', allow: '/$', disallow: '/', applicable: 'disallow' },
];
