import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';

const rules = fileURLToPath(new URL('../../../src/core/rules/index.ts', import.meta.url));

/** A bundle of what is exported by `source`, which imports from `RULES`. */
async function bundled(source: string): Promise<{ readonly code: string; readonly exports: unknown }> {
  const entry = 'entry-of-the-test';
  const bundle = await rolldown({
    input: entry,
    platform: 'browser',
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? source.replace('RULES', JSON.stringify(rules)) : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const { code } = output[0];
  return { code, exports: await import(`data:text/javascript,${encodeURIComponent(code)}`) };
}

const BODY = "'User-agent: *\\nDissalow: /'";

describe('a bundle', () => {
  it('of `parseRobots` alone leaves the linter, usage and page directives out', async () => {
    const { code, exports } = await bundled(
      `import { parseRobots } from RULES;
       export const allowed = parseRobots(${BODY}).check('/').allowed;`,
    );
    expect(code).not.toContain('forgiven-key');
    expect(code).not.toContain('content-usage');
    expect(code).not.toContain('x-robots-tag');
    expect(code).not.toContain('unavailable_after');
    expect(exports).toMatchObject({ allowed: false });
  });

  it('of `parseRobots` and `productToken` stays under 15 kB compressed', async () => {
    const { code } = await bundled(`export { parseRobots, productToken } from RULES;`);
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(15_000);
  });

  it('of everything stays under 32 kB compressed: it has no sentences about findings', async () => {
    const { code } = await bundled(`export * from RULES;`);
    expect(code).not.toContain('RFC 9309 §');
    expect(gzipSync(code, { level: 9 }).length).toBeLessThanOrEqual(32_000);
  });

  it('of `pageDirectives` alone leaves the parser out', async () => {
    const { code, exports } = await bundled(
      `import { pageDirectives } from RULES;
       export const { index } = pageDirectives({ headers: { 'X-Robots-Tag': 'noindex' } });`,
    );
    expect(code).not.toContain('rfc9309');
    expect(exports).toMatchObject({ index: false });
  });

  it('with `lint` has its codes', async () => {
    const { exports } = await bundled(
      `import { lint, parseRobots } from RULES;
       export const codes = lint(parseRobots(${BODY})).map(({ code }) => code);`,
    );
    expect(exports).toMatchObject({ codes: ['site-closed', 'forgiven-key'] });
  });
});
