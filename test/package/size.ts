import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/**
 * `npm run size`: what `canfetch/rules` weighs in a browser: what its users need, bundled, minified and compressed.
 * Exits 1 past the limit.
 */
const LIMIT_BYTES = 13_500;

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
