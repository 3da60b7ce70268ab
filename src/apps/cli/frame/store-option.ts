import { existsSync } from 'node:fs';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { quoted } from '../../../core/base/index.ts';
import { UsageError } from '../../answers/session.ts';

/** Whether `--store` names a server instead of a file. */
export function isRedisUrl(store: string): boolean {
  return /^rediss?:\/\//i.test(store);
}

/**
 * Checks what `--store` names. Messages show only the scheme of a URL, which may have a password.
 *
 * @throws UsageError for anything but a file, or the URL of a Redis or Valkey server.
 */
export function assertStore(store: string): void {
  if (isRedisUrl(store)) return;
  // One letter is a drive of Windows. `redis:` counts without a slash too: a password shall not become a file.
  const scheme = /^(?:(rediss?|valkeys?):|([a-z][a-z0-9+.-]+):[/\\])/i.exec(store)?.slice(1).find(Boolean);
  if (scheme !== undefined) {
    throw new UsageError(
      'Expected --store to be a file of SQLite or redis://HOST:PORT (rediss:// for TLS), ' +
        `got ${/^rediss?$/i.test(scheme) ? 'one without its two slashes' : `the URL of something else (${scheme}://)`}; write redis:// for Valkey too`,
    );
  }
  // With a slash behind it only a folder exists.
  if (/[/\\]$/.test(store) || existsSync(join(store, sep))) {
    throw new UsageError(
      `Expected --store to be a file of SQLite, got a folder; write --store ${quoted(join(store, 'robots.sqlite'))}`,
    );
  }
}

/**
 * The line that installs a package where this program finds it.
 *
 * @param program The file of this program. With npx and for a global install it is not below the working directory.
 */
export function installLine(
  name: string,
  program: string = fileURLToPath(import.meta.url),
  cwd: string = process.cwd(),
): string {
  if (/[/\\]_npx[/\\]/.test(program)) return `npx -p canfetch -p ${name} canfetch`;
  const folder = /^(.*?)[/\\]node_modules[/\\]/.exec(program)?.[1];
  if (folder === undefined || `${cwd}${sep}`.startsWith(`${folder}${sep}`)) return `npm install ${name}`;
  return existsSync(join(folder, 'package.json'))
    ? `npm install --prefix ${folder} ${name}`
    : `npm install --global ${name}`;
}
