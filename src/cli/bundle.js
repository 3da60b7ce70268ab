/**
 * Bundles the command, in the folder of compiled files that is given, into a few files: `canfetch --help` would load sixty
 * modules and spend half of its time on that. What users import stays as compiled.
 */
import { resolve } from 'node:path';
import { build } from 'rolldown';

await build({
  cwd: resolve(process.argv[2]),
  input: './cli/main.js',
  platform: 'node',
  // Packages are imported. The module of the page reads the files beside it.
  external: [/^(?:node:|@?[a-z][\w.-]*(?:\/|$))/, /serve\/page\/assets\.js$/],
  output: { dir: 'program', format: 'esm', cleanDir: true, chunkFileNames: '[name]-[hash].js' },
});
