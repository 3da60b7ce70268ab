import type { RobotsFile } from './file.ts';
import type { Ruleset } from './matcher/index.ts';

/*
 * The memory that V8 uses for these objects and their fields, in bytes. `npm run bench -- memory` compares the sum with
 * the memory of the process.
 */
const FILE_BYTES = 230;
const AGENTS_BYTES = 200;
const AGENT_BYTES = 40;
const RULESET_BYTES = 330;
const GROUP_BYTES = 230;

/** Estimated memory of a file in bytes, body included. It changes with `file.changes`. */
export function heldBytes(file: RobotsFile): number {
  const { bytes, ruleset, rulesets } = file;
  let held = FILE_BYTES + bytes.length;
  if (rulesets !== undefined) held += AGENTS_BYTES + rulesets.size * AGENT_BYTES;
  // Agents that no group names share one ruleset.
  const different = new Set(rulesets?.values());
  if (ruleset !== undefined) different.add(ruleset);
  for (const each of different) held += rulesetBytes(each);
  return held;
}

function rulesetBytes({ byteLength, group }: Ruleset): number {
  return (
    RULESET_BYTES +
    byteLength +
    (group === undefined || Object.isFrozen(group) ? 0 : GROUP_BYTES + group.lines.length * 8)
  );
}
