import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  type Dialect,
  lint,
  parseRobots,
  requestRate,
  type RobotsFile,
  usage,
} from '../../src/core/rules/index.ts';
import { falseFindings } from '../core/rules/lint/undo.ts';

/**
 * Extra runs over cases and real files that lie beside a development checkout. They are read from there and are not
 * part of the project; where they are missing the runs are skipped, which says so.
 */
interface Case {
  readonly id: string;
  readonly dialect: Dialect;
  readonly body: string;
  readonly agent: string;
  readonly target: string;
  readonly allowed: 0 | 1;
  readonly line: number;
}

const folder = new URL('../../../shared/vectors/', import.meta.url);
const corpus = new URL('../../../shared/corpus/robots-4231.ndjson.gz', import.meta.url);
const DIALECTS: readonly Dialect[] = ['rfc9309', 'google', 'koster-1996', 'robotstxt-1994'];

/** Cases from a time when NUL was an ordinary byte of a value. Now it ends the value, and makes an `Allow` void. */
const WITH_NUL: ReadonlySet<string> = new Set(
  [
    1413, 3984, 5077, 5168, 5169, 5170, 8842, 12_453, 12_455, 16_415, 16_417, 16_525, 16_891, 18_795, 18_797,
    19_582,
  ].map((number) => `rfc9309-2-${number}`),
);

function linesOf(file: URL): string[] {
  return gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
}

describe.each(['published', 'google', 'rfc9309', 'koster-1996', 'robotstxt-1994'])('vectors: %s', (name) => {
  const file = new URL(`${name}.ndjson.gz`, folder);
  it.skipIf(!existsSync(file))('agree in verdict and deciding line', () => {
    const lines = linesOf(file);
    const files = new Map<string, RobotsFile>();
    const differences: string[] = [];
    for (const line of lines) {
      const item = JSON.parse(line) as Case;
      if (WITH_NUL.has(item.id)) continue;
      const key = `${item.dialect} ${item.body}`;
      let robots = files.get(key);
      if (robots === undefined) {
        robots = parseRobots(Buffer.from(item.body, 'base64'), { dialect: item.dialect });
        files.set(key, robots);
      }
      const verdict = robots.check(item.target, item.agent);
      const decidingLine = verdict.reason === 'rule' ? verdict.rule.line : 0;
      if (verdict.allowed !== (item.allowed === 1) || decidingLine !== item.line) {
        const got = `${verdict.allowed ? 1 : 0}@${decidingLine}`;
        differences.push(
          `${item.id} ${item.agent} ${item.target}: expected ${item.allowed}@${item.line}, got ${got}`,
        );
      }
    }
    console.log(`${name}: ${lines.length - differences.length} of ${lines.length} agree`);
    expect(differences.slice(0, 20)).toEqual([]);
  });
});

describe('real files', () => {
  it.skipIf(!existsSync(corpus))(
    'are read in every dialect, and answer for what they name',
    () => {
      let rules = 0;
      const faults: string[] = [];
      for (const line of linesOf(corpus)) {
        const { name, body } = JSON.parse(line) as { readonly name: string; readonly body: string };
        const octets = Buffer.from(body, 'base64');
        if (lint(parseRobots(octets)).some(({ line: at }) => at < 1))
          faults.push(`${name}: a line before the first`);
        for (const dialect of DIALECTS) {
          const file = parseRobots(octets, { dialect });
          const group = file.groups.at(-1);
          const agent = group?.agentLines[0]?.names[0] ?? 'ExampleBot';
          usage(file, '/', agent);
          requestRate(file, agent);
          file.crawlDelay(agent);
          for (const { pattern } of group?.rules.slice(0, 3) ?? []) {
            const target = pattern.startsWith('/') ? pattern : `/${pattern}`;
            const verdict = file.check(target, agent);
            if (verdict.allowed !== (verdict.rule?.directive !== 'disallow'))
              faults.push(`${name} ${target}`);
            if (verdict.reason === 'rule') rules++;
          }
        }
      }
      expect(faults).toEqual([]);
      // What decides is mostly the very rule that the target was made of.
      expect(rules).toBeGreaterThan(20_000);
    },
    180_000,
  );

  it.skipIf(!existsSync(corpus))(
    'have findings of lint that are so, and are no more when what they name is undone',
    () => {
      const faults: string[] = [];
      for (const line of linesOf(corpus)) {
        const { name, body } = JSON.parse(line) as { readonly name: string; readonly body: string };
        for (const { code, line: at } of falseFindings(Buffer.from(body, 'base64'), 'rfc9309'))
          faults.push(`${name}: ${code} on line ${at}`);
      }
      expect(faults).toEqual([]);
    },
    300_000,
  );
});
