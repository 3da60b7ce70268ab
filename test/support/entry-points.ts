import { createRequire } from 'node:module';

/** `exports` of package.json for one entry point, by condition. */
export type Conditions = Readonly<Record<string, string>>;

interface Package {
  /** The source of each entry point by its name, `index` for that of the package itself. */
  readonly entryPoints: Readonly<Record<string, string>>;
  readonly manifest: {
    readonly version: string;
    readonly exports: Readonly<Record<string, string | Conditions>>;
    readonly imports: Readonly<Record<'#platform', Readonly<Record<string, string | Conditions>>>>;
    readonly typesVersions: Readonly<Record<'*', Readonly<Record<string, readonly string[]>>>>;
  };
}

export const { entryPoints, manifest }: Package = createRequire(import.meta.url)(
  '../../src/package/entry-points.js',
);

/** The source of what a user imports as `specifier`, such as `canfetch/rules`. */
export function sourceOf(specifier: string): string {
  const source = entryPoints[specifier.replace(/^canfetch\/?/, '') || 'index'];
  if (source === undefined) throw new Error(`Expected an entry point of the package, got ${specifier}`);
  return source;
}
