import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type Dialect, parseRobots, type RobotsFile } from '../../src/rules/index.ts';

/**
 * Extra conformance run over cases that lie beside a development checkout. They are read from there and are not
 * part of the project; where they are missing the run is skipped, which says so.
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

describe.each(['published', 'google', 'rfc9309', 'koster-1996', 'robotstxt-1994'])('vectors: %s', (name) => {
  const file = fileURLToPath(new URL(`${name}.ndjson.gz`, folder));
  it.skipIf(!existsSync(file))('agree in verdict and deciding line', () => {
    const lines = gunzipSync(readFileSync(file)).toString('utf8').trim().split('\n');
    const files = new Map<string, RobotsFile>();
    const differences: string[] = [];
    for (const line of lines) {
      const item = JSON.parse(line) as Case;
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
