import { describe, expect, it } from 'vitest';
import { familyNote } from '../../../src/apps/answers/crawler-families.ts';
import type { FileDecision } from '../../../src/apps/answers/verdict.ts';
import { parseRobots } from '../../../src/core/rules/index.ts';
import { startSite } from '../../support/site.ts';
import { cli } from '../cli/session.ts';

function noteFor(robots: string, agent: string): string | undefined {
  const file = parseRobots(robots);
  const verdict = file.check('/a', agent);
  const common = { url: '/a', agent, profile: 'rfc9309', state: 'rules' } as const;
  const decision: FileDecision = { ...common, robots: { file: '-', source: 'file' }, ...verdict };
  return familyNote(decision, file);
}

describe('a crawler that the file does not name', () => {
  it.each([
    ['Googlebot-Image', 'Googlebot'],
    ['bingbot', 'msnbot'],
    ['YandexImages', 'Yandex'],
    ['Applebot', 'Googlebot'],
  ])('%s obeys the group of %s by the word of its owner', (agent, obeys) => {
    const robots = `User-agent: ${obeys}\nDisallow: /\n\nUser-agent: *\nAllow: /\n`;
    expect(noteFor(robots, agent)).toMatch(
      new RegExp(
        `^by its owner's word ${agent} obeys the group of ${obeys} here: ask for both, ${agent} first \\(.*https://`,
      ),
    );
    // The list that it names gives the answer of the owner.
    expect(parseRobots(robots).check('/a', [agent, obeys])).toMatchObject({
      allowed: false,
      rule: { line: 2 },
    });
    expect(noteFor(`User-agent: ${agent}\nAllow: /\n\n${robots}`, agent)).toBeUndefined();
    expect(noteFor('User-agent: *\nDisallow: /\n', agent)).toBeUndefined();
  });

  it.each(['AdsBot-Google-Mobile', 'Mediapartners-Google'])(
    '%s ignores the group of "*" by the word of its owner',
    (agent) => {
      expect(noteFor('User-agent: *\nDisallow: /\n', agent)).toMatch(
        /ignores the group of "\*".*special-case-crawlers\)$/,
      );
      expect(noteFor(`User-agent: ${agent}\nDisallow: /\n`, agent)).toBeUndefined();
      expect(noteFor('User-agent: Other\nDisallow: /\n', agent)).toBeUndefined();
    },
  );

  it.each(['ExampleBot', 'Googlebot', 'Yandex', 'Storebot-Google', 'Applebot-Extended', '*'])(
    '%s has no note',
    (agent) => {
      expect(
        noteFor('User-agent: Googlebot\nUser-agent: Yandex\nDisallow: /\n\nUser-agent: *\nAllow: /\n', agent),
      ).toBeUndefined();
    },
  );

  const note = /\n {2}note +by its owner's word Googlebot-Image obeys the group of Googlebot here/;
  const stdin = 'User-agent: Googlebot\nDisallow: /\n';

  it.each(['check', 'explain'])('is noted by %s, of a file and of a site', async (command) => {
    const ask = [command, '-a', 'Googlebot-Image'];
    const offline = await cli([...ask, '--robots', '-', '/a'], { stdin });
    expect(offline).toMatchObject({ code: 0, stdout: expect.stringMatching(note) });
    await using site = await startSite({ '/robots.txt': { body: stdin } });
    const online = await cli([...ask, site.url('/a')]);
    expect(online).toMatchObject({ code: 0, stdout: expect.stringMatching(note) });
    const plain = await cli([command, '-a', 'ExampleBot', site.url('/a')]);
    expect(plain.stdout).not.toContain('note');
  });
});
