import { describe, expect, it } from 'vitest';
import { openedForAll } from '../../support/opened.ts';
import { startRawSite } from '../../support/site.ts';
import { cli } from './session.ts';

/** Moves the cursor, recolours, sets the title, answers for the user, turns text around, breaks lines. */
const NASTY = '\u001B[2J\u001B]0;pwned\u0007\u009B31m\u0085\u2028\u202E\u200B\u007F\u0008x';
const ROBOTS = [
  `User-agent: *${NASTY}`,
  `User-agent: *`,
  `Disallow: /${NASTY}`,
  `Allow: /${NASTY.slice(0, 4)}`,
  `Allow: /*${NASTY}*`,
  `Crawl-delay${NASTY}: 1`,
  `${NASTY}: ${NASTY}`,
  `Sitemap: ${NASTY}`,
  `User-agent: Other${NASTY}`,
  `Disallow: /${NASTY}`,
].join('\n');

/** Whatever a terminal would not just show. */
const DANGEROUS =
  /[\u0000-\u0009\u000B-\u001F\u007F-\u009F\u00AD\u200B-\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/;

const BODY = Buffer.from(ROBOTS);
const HEAD = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: text/plain\u009B31m\r\nETag: "\u0085"\r\n` +
    `Cache-Control: max-age=60, x="\u009B2J"\r\nContent-Length: ${BODY.length}\r\n\r\n`,
  'latin1',
);
const site = openedForAll(await startRawSite((socket) => socket.end(Buffer.concat([HEAD, BODY]))));

describe('control characters of a hostile file are made visible, by', () => {
  const target = (): string => site.url(`/${encodeURIComponent(NASTY)}`);

  it.each<[string, () => string[]]>([
    ['check', () => ['check', target()]],
    ['check --json', () => ['check', '--json', target()]],
    ['explain', () => ['explain', target()]],
    ['explain of another agent', () => ['explain', '-a', 'Other', target()]],
    ['explain --json', () => ['explain', '--json', target()]],
    ['explain --robots', () => ['explain', '--robots', '-', `/${NASTY}`]],
    ['policy', () => ['policy', site.origin]],
    ['policy --json', () => ['policy', '--json', site.origin]],
    ['lint', () => ['lint', '-']],
    ['lint of an origin', () => ['lint', site.origin]],
    ['lint --json', () => ['lint', '--json', '-']],
    ['prefetch', () => ['prefetch', '-']],
    ['messages', () => ['check', `http://${NASTY}/`]],
    ['messages about files', () => ['lint', `/nowhere/${NASTY}`]],
    ['messages about commands', () => ['policy', NASTY]],
  ])('%s', async (_, argv) => {
    const { code, stdout, stderr } = await cli(argv(), { stdin: ROBOTS, stderrIsTTY: false });
    expect(code).toBeLessThan(4);
    expect(stdout + stderr).not.toBe('');
    expect(DANGEROUS.exec(stdout)?.[0]).toBe(undefined);
    expect(DANGEROUS.exec(stderr)?.[0]).toBe(undefined);
  });

  it('JSON, which is the same data all the same', async () => {
    const { stdout } = await cli(['explain', '--json', '--robots', '-', `/${NASTY}`], { stdin: ROBOTS });
    expect(JSON.parse(stdout)).toMatchObject({ input: `/${NASTY}` });
  });
});
