import { weighBundle, weighPackage } from '../package/weigh.ts';
import type { Row } from './measure.ts';

/** What users load and install: bytes, which no machine changes. */
export async function* sizes(): AsyncGenerator<Row> {
  yield* await Promise.all([
    bundled('`parseRobots` in a page', 'parseRobots', 'rules', 14),
    bundled('a Worker with `RobotsClient`', 'RobotsClient', 'index', 45),
    bundled('a Worker with `RobotsClient` and `guardFetch`', 'RobotsClient, guardFetch', 'index', 54),
  ]);
  const { size, unpackedSize, entryCount } = weighPackage();
  yield row('the package, packed', size / 1e3, 'kB', 530);
  yield row('the package, unpacked', unpackedSize / 1e6, 'MB', 1.7);
  yield row('the package', entryCount, 'files', 300);
}

async function bundled(what: string, names: string, entryPoint: string, most: number): Promise<Row> {
  const { atOnce, later } = await weighBundle(names, entryPoint);
  return {
    ...row(`${what}, gzip`, atOnce / 1e3, 'kB', most),
    ...(later > 0 && { peer: `${(later / 1e3).toFixed(1)} kB more when first used` }),
  };
}

function row(what: string, value: number, unit: string, most: number): Row {
  const shown = Number.isInteger(value) ? value : value.toFixed(1);
  return {
    what,
    ours: `${shown} ${unit}`,
    bar: `≤ ${most} ${unit}`,
    used: value / most,
  };
}
