import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startSite } from '../../support/site.ts';
import { cli, records } from './session.ts';

const OLD = `User-agent: *
Disallow: /private
Allow: /p
Crawl-delay: 10

User-agent: Googlebot
User-agent: Bingbot
Disallow: /search
Sitemap: https://example.com/a.xml
`;
const NEW = `User-agent: bingbot
Disallow: /search

User-agent: *
Disallow: /p
Disallow: /secret
Allow: /secret/open
Sitemap: https://example.com/b.xml
`;

let folder: string;
let old: string;
let now: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'canfetch-diff-'));
  old = join(folder, 'old.txt');
  now = join(folder, 'new.txt');
  await writeFile(old, OLD);
  await writeFile(now, NEW);
});

afterAll(() => rm(folder, { recursive: true }));

describe('diff', () => {
  it('shows what changed for whom, and which URLs flip', async () => {
    const { code, stdout, stderr } = await cli([
      'diff',
      old,
      now,
      '-u',
      '/private/x?y',
      '--url',
      '/elsewhere',
    ]);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.split('\n')).toEqual([
      `--- ${old}`,
      `+++ ${now}`,
      '',
      'for *',
      '  - line 2  Disallow: /private',
      '  ! line 5  Disallow: /p, before line 3  Allow: /p',
      '  + line 6  Disallow: /secret',
      '  + line 7  Allow: /secret/open',
      '  - line 4  crawl-delay: 10',
      '  URLs decided differently:',
      '    /p  allowed by line 3 → disallowed by line 5',
      '    /p/x  allowed by line 3 → disallowed by line 5',
      '    /secret  allowed → disallowed by line 6',
      '    /secret/x  allowed → disallowed by line 6',
      '  5 URLs with the same decision by another rule',
      '',
      'for Googlebot',
      '  group "Googlebot" → group "*"',
      '  + line 5  Disallow: /p',
      '  + line 6  Disallow: /secret',
      '  + line 7  Allow: /secret/open',
      '  - line 8  Disallow: /search',
      '  URLs decided differently:',
      '    /p  allowed → disallowed by line 5',
      '    /p/x  allowed → disallowed by line 5',
      '    /secret  allowed → disallowed by line 6',
      '    /secret/x  allowed → disallowed by line 6',
      '    /search  disallowed by line 8 → allowed',
      '    /search/x  disallowed by line 8 → allowed',
      '    /private/x?y  allowed → disallowed by line 5',
      '  2 URLs with the same decision by another rule',
      '',
      'outside of groups',
      '  + line 8  sitemap: https://example.com/b.xml',
      '  - line 9  sitemap: https://example.com/a.xml',
      '',
    ]);
  });

  it('makes no difference of comments, layout, and the order and names of groups', async () => {
    const other = `# hello\n\n${NEW.split('\n\n').reverse().join('\n\n').replace('bingbot', 'BingBot')}`;
    const { code, stdout } = await cli(['diff', now, '-'], { stdin: other });
    expect(code).toBe(0);
    expect(stdout).toContain('No difference for any agent');
  });

  it('is about the agent that was asked for', async () => {
    const text = 'User-agent: Bingbot\nDisallow: /search\n';
    const { code, stdout } = await cli(['diff', '-a', 'Bingbot/2.0', '-', old], { stdin: text });
    // What is for everybody differs all the same.
    expect(stdout).not.toContain('for Bingbot');
    expect(code).toBe(1);
    const alone = OLD.replace(/Sitemap.*/, '');
    await writeFile(join(folder, 'alone.txt'), alone);
    expect((await cli(['diff', '-a', 'Bingbot', '-', join(folder, 'alone.txt')], { stdin: text })).code).toBe(
      0,
    );
  });

  it('tries URLs from standard input', async () => {
    const stdin = 'https://example.com/p/1\n# no\n\nhttps://example.com/q\n';
    const { stdout } = await cli(['diff', '-a', '*', '--url', '-', old, now], { stdin });
    expect(stdout).toContain('    https://example.com/p/1  allowed by line 3 → disallowed by line 5\n');
    expect(stdout).not.toContain('https://example.com/q ');
  });

  it('is one JSON object', async () => {
    const { code, stdout } = await cli(['diff', '--json', '-a', 'Googlebot', old, now]);
    expect(code).toBe(1);
    expect(records(stdout)).toEqual([
      {
        schemaVersion: 1,
        before: { name: old },
        after: { name: now },
        same: false,
        differences: [
          expect.objectContaining({
            agents: ['Googlebot'],
            groupBefore: 'Googlebot',
            groupAfter: '*',
            rules: expect.arrayContaining([
              { kind: 'removed', before: { directive: 'disallow', pattern: '/search', line: 8 } },
            ]),
            flips: expect.arrayContaining([
              {
                target: '/search',
                before: { allowed: false, rule: { directive: 'disallow', pattern: '/search', line: 8 } },
                after: { allowed: true },
              },
            ]),
            flipCount: 6,
          }),
        ],
        everybody: [
          { kind: 'added', record: { key: 'sitemap', value: 'https://example.com/b.xml', line: 8 } },
          { kind: 'removed', record: { key: 'sitemap', value: 'https://example.com/a.xml', line: 9 } },
        ],
        agentsLeftOut: 0,
      },
    ]);
  });

  it('takes origins: one without robots.txt has an empty one, one that is closed disallows all', async () => {
    await using served = await startSite({ '/robots.txt': { body: OLD } });
    await using missing = await startSite({});
    await using closed = await startSite({ '/robots.txt': { status: 403 } });
    expect((await cli(['diff', served.origin, old])).code).toBe(0);
    const opened = await cli(['diff', '-a', 'Bingbot', old, missing.origin]);
    expect(opened.stdout).toContain(`+++ ${missing.origin}: robots.txt is unavailable (404)`);
    expect(opened.stdout).toContain('/search  disallowed by line 8 → allowed');
    const shut = await cli(['diff', '--profile', 'koster-1996', '-a', 'Bingbot', old, closed.origin]);
    expect(shut.stdout).toContain('/search');
    expect(shut.stdout).toContain('the whole site is disallowed');
    expect(shut.code).toBe(1);
  });

  it('is in trouble when a robots.txt is unreachable', async () => {
    await using broken = await startSite({ '/robots.txt': { status: 503 } });
    const { code, stdout, stderr } = await cli(['diff', broken.origin, old]);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('robots.txt is unreachable (503)');
  });

  it('refuses what is no URL, also when nothing differs', async () => {
    for (const argv of [
      [old, now, '-u', 'nonsense'],
      [old, old, '-u', 'nonsense'],
    ]) {
      const { code, stderr } = await cli(['diff', ...argv]);
      expect(code).toBe(2);
      expect(stderr).toContain('Expected an absolute URL, or a path that starts with "/", got "nonsense"');
    }
  });
});

describe('a pattern that gets shorter in reach', () => {
  it.each(['/c$', '/c/'])('/c → %s is found out by a longer name', async (pattern) => {
    await writeFile(join(folder, 'before.txt'), 'User-agent: *\nDisallow: /c\n');
    const stdin = `User-agent: *\nDisallow: ${pattern}\n`;
    const { stdout } = await cli(['diff', join(folder, 'before.txt'), '-'], { stdin });
    expect(stdout).toContain('/cX');
  });
});

describe('precedence', () => {
  const before = 'User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /c\n';
  const after = 'User-agent: *\nAllow: /a/b\nDisallow: /a\nDisallow: /c\n';

  it('by length: the order of rules makes no difference', async () => {
    await writeFile(join(folder, 'before.txt'), before);
    expect((await cli(['diff', join(folder, 'before.txt'), '-'], { stdin: after })).code).toBe(0);
  });

  it('by order: a rule that moved is told, with what it flips', async () => {
    await writeFile(join(folder, 'before.txt'), before);
    const { code, stdout } = await cli(
      ['diff', '--profile', 'koster-1996', join(folder, 'before.txt'), '-'],
      {
        stdin: after,
      },
    );
    expect(code).toBe(1);
    expect(stdout).toMatch(/^ {2}~ line \d .*, before on line \d: the first match decides$/m);
    expect(stdout).toContain('    /a/b  disallowed by line 2 → allowed by line 2');
  });
});
