import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where a step of CI has installed the other major versions of libraries, by names such as `undici-8`. */
const folder = process.env['OTHER_MAJORS'];

/**
 * Loads another major version of a library. Without it the tests that need it are skipped, and a line says so: `npm ci`
 * brings one version of each, and some do not run on every line of Node.
 */
export async function otherMajor<Module>(name: string, subpath = '.'): Promise<Module | undefined> {
  if (folder === undefined) {
    process.stderr.write(`Skipped: OTHER_MAJORS names no folder with ${name}\n`);
    return undefined;
  }
  const root = join(folder, 'node_modules', name);
  const { exports, main = 'index.js' } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly exports?: unknown;
    readonly main?: string;
  };
  return import(join(root, entryOf(exports, subpath) ?? main)) as Promise<Module>;
}

/** The file that `import` gets by the `exports` of a package. */
function entryOf(exports: unknown, subpath: string): string | undefined {
  if (typeof exports === 'string' || exports === undefined) return exports;
  const conditions: Record<string, unknown> = Object(exports);
  return entryOf(conditions[subpath] ?? conditions['import'] ?? conditions['default'], subpath);
}
