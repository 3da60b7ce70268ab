import type { Diagnostic } from './lint/diagnostic.ts';
import type { RobotsFile } from './file.ts';

/**
 * Where `file.diagnostics` finds `lint`, which puts itself here. The two do not import each other: so a bundle that
 * never imports `lint` does without it, a fifth of the room. Outside bundles it is always there, because
 * `index.ts` exports it.
 */
export const linter: { lint?: (file: RobotsFile) => readonly Diagnostic[] } = {};
