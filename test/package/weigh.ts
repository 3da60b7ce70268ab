import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { type OutputChunk, rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const ENTRY = 'canfetch-size-entry';

/** Bytes of minified code, compressed. */
export interface BundleSize {
  /** What is loaded with the import. */
  readonly atOnce: number;
  /** What is loaded when it is first used. */
  readonly later: number;
  /** What the bundle still imports. */
  readonly imports: readonly string[];
}

/** What a Worker or a page weighs that uses these exports of an entry point, and nothing of Node. */
export async function weighBundle(names: string, entryPoint: string): Promise<BundleSize> {
  const path = JSON.stringify(`${root}dist/${entryPoint}.js`);
  const bundle = await rolldown({
    input: ENTRY,
    platform: 'browser',
    resolve: { conditionNames: ['workerd', 'worker', 'browser', 'import', 'default'] },
    logLevel: 'silent',
    plugins: [
      {
        name: ENTRY,
        resolveId: (id) => (id === ENTRY ? id : null),
        load: (id) => (id === ENTRY ? `export { ${names} } from ${path};` : null),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const chunks = new Map(output.flatMap((each) => (each.type === 'chunk' ? [[each.fileName, each]] : [])));
  const first = new Set<OutputChunk>();
  const imports = new Set<string>();
  const load = (name: string): void => {
    const chunk = chunks.get(name);
    if (chunk === undefined) imports.add(name);
    else if (!first.has(chunk)) {
      first.add(chunk);
      chunk.imports.forEach(load);
    }
  };
  load(output[0].fileName);
  const bytes = (some: Iterable<OutputChunk>): number =>
    [...some].reduce((sum, { code }) => sum + gzipSync(code, { level: 9 }).length, 0);
  const atOnce = bytes(first);
  return { atOnce, later: bytes(chunks.values()) - atOnce, imports: [...imports] };
}

/** What the package weighs to those who install it. It has to be built. */
export interface PackageSize {
  readonly size: number;
  readonly unpackedSize: number;
  readonly entryCount: number;
}

export function weighPackage(): PackageSize {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
  const [weight] = JSON.parse(String(said)) as PackageSize[];
  if (weight === undefined) throw new Error(`Expected npm pack to describe a package, got ${String(said)}`);
  return weight;
}
