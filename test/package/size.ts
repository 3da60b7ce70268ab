/**
 * `npm run size`: what `canfetch/rules` weighs in a browser (what its users need, bundled, minified and compressed), and
 * what the package weighs to those who install it. Exits 1 past a limit.
 */
import { weighBundle, weighPackage } from './weigh.ts';

const LIMIT_BYTES = 15_000;
const PACKAGE_LIMITS = [
  ['size', 526_500],
  ['unpackedSize', 1_670_000],
  ['entryCount', 256],
] as const;

const { atOnce, later, imports } = await weighBundle('parseRobots, productToken', 'rules');
console.log(`canfetch/rules: ${atOnce} bytes gzip, limit ${LIMIT_BYTES} (parseRobots, productToken)`);
if (imports.length > 0) console.error(`Expected no imports, got ${imports.join(', ')}`);
if (atOnce > LIMIT_BYTES || later > 0 || imports.length > 0) process.exitCode = 1;

const weight = weighPackage();
for (const [what, limit] of PACKAGE_LIMITS) {
  console.log(`the package: ${what} ${weight[what]}, limit ${limit}`);
  if (weight[what] > limit) process.exitCode = 1;
}
