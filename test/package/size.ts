/**
 * `npm run size`: what `canfetch/rules` weighs in a browser (what its users need, bundled, minified and compressed), and
 * what the package weighs to those who install it. Exits 1 past a limit.
 */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

const LIMIT_BYTES = 13_500;
const PACKAGE_LIMITS = [
  ['size', 580_000],
  ['unpackedSize', 2_000_000],
  ['entryCount', 350],
] as const;

const entry = 'canfetch-size-entry';
const rules = fileURLToPath(new URL('../../src/rules/index.js', import.meta.url));
const bundle = await rolldown({
  input: entry,
  // Nothing of Node may be needed.
  platform: 'browser',
  plugins: [
    {
      name: entry,
      resolveId: (id) => (id === entry ? id : null),
      load: (id) =>
        id === entry ? `export { parseRobots, productToken } from ${JSON.stringify(rules)};` : null,
    },
  ],
});
const { output } = await bundle.generate({ format: 'esm', minify: true });
const { code, imports, dynamicImports } = output[0];
const compressed = gzipSync(code, { level: 9 }).length;
console.log(
  `canfetch/rules: ${code.length} bytes minified, ${compressed} bytes gzip, limit ${LIMIT_BYTES} (parseRobots, productToken)`,
);
const others = [...imports, ...dynamicImports];
if (others.length > 0) console.error(`Expected no imports, got ${others.join(', ')}`);
if (compressed > LIMIT_BYTES || output.length > 1 || others.length > 0) process.exitCode = 1;

const root = fileURLToPath(new URL('../../../', import.meta.url));
const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
const [weight]: { size: number; unpackedSize: number; entryCount: number }[] = JSON.parse(String(said));
for (const [what, limit] of PACKAGE_LIMITS) {
  console.log(`the package: ${what} ${weight?.[what]}, limit ${limit}`);
  if (weight === undefined || weight[what] > limit) process.exitCode = 1;
}
