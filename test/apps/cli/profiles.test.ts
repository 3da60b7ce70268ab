import { describe, expect, it } from 'vitest';
import { type Profile, profileNames, profiles } from '../../../src/core/lifecycle/index.ts';
import { RobotsClient } from '../../../src/index.ts';
import { cli, records } from './session.ts';

describe('profiles', () => {
  it('stand side by side', async () => {
    const { code, stdout, stderr } = await cli(['profiles', '--no-color'], {
      stdoutIsTTY: true,
      columns: 200,
    });
    expect([code, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n').map((line) => line.trim().split(/ {2,}/));
    expect(lines[0]).toEqual(profileNames);
    const row = (label: string): string[] => lines.find(([first]) => first === label)?.slice(1) ?? [];
    expect(row('401, 403')).toEqual(['allow-all', 'allow-all', 'allow-all', 'disallow-all', 'disallow-all']);
    expect(row('429')).toEqual(['unreachable', 'unreachable', 'allow-all', 'unreachable', 'unreachable']);
    expect(row('redirects followed')).toEqual(['5', '5', '5', '20', '20']);
    expect(row('lifetime by default')).toEqual(['24 h', '24 h', '24 h', '7 d', '7 d']);
    expect(row('deciding rule')).toEqual(['longest', 'longest', 'longest', 'first', 'first']);
    expect(row('google')).toEqual([
      'until 12 h: disallow-all; until 30 d: last-good, without a copy allow-all; ' +
        'after that: disallow-all, if the site answers otherwise allow-all',
    ]);
  });

  it.each([
    [60, 2],
    [80, 3],
    [undefined, 3],
  ])('stand in several tables on %s columns, %i in the first', async (columns, fitting) => {
    const terminal = columns === undefined ? {} : { stdoutIsTTY: true, columns };
    const { stdout } = await cli(['profiles', '--no-color'], terminal);
    const lines = stdout.split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns ?? 80);
    const heads = lines.filter(
      (line) => /^ {5,}\S/.test(line) && profileNames.some((name) => line.includes(` ${name}`)),
    );
    const shown = heads
      .map((line) => line.trim().split(/ +/))
      .filter(([first]) => profileNames.some((name) => name === first));
    expect(shown.flat()).toEqual(profileNames);
    expect(shown[0]).toHaveLength(fitting);
    expect(lines.filter((line) => line.startsWith('  401, 403 '))).toHaveLength(shown.length);
  });

  it('can be looked at one by one', async () => {
    const { stdout } = await cli(['profiles', 'koster-1996']);
    expect(stdout).toMatch(/^koster-1996\n/);
    expect(stdout).toMatch(/^ {2}while unreachable +without end: disallow-all$/m);
    expect(stdout).not.toContain('google');
  });

  it('are data with --json, which a client takes', async () => {
    const { stdout } = await cli(['profiles', '--json']);
    const found = records(stdout);
    expect(found).toHaveLength(profileNames.length);
    for (const [index, name] of profileNames.entries()) {
      const { schemaVersion, dialectTraits, ...profile } = found[index] ?? {};
      expect(schemaVersion).toBe(1);
      expect(dialectTraits).toMatchObject({ decides: expect.any(String) });
      expect(profile).toEqual(profiles[name]);
      await new RobotsClient({ profile: profile as unknown as Profile }).close();
    }
    expect(records((await cli(['profiles', '--json', 'google'])).stdout)).toMatchObject([{ name: 'google' }]);
  });
});
