import { agentLineNames, callerAgent, NAMES_AGENT, NAMES_ALL } from './agent.ts';
import { dialects } from './dialect.ts';
import type { RobotsFile } from './file.ts';
import { GroupWalk } from './group-walk.ts';
import { LINE_ALLOW, LINE_BLANK, LINE_DISALLOW, LINE_OTHER, LINE_USER_AGENT } from './parse-line.ts';
import { utf8 } from './bytes.ts';

/** A line that neither allows nor disallows, as bytes of its file. */
export interface RecordLine {
  /** One of the requested keys. */
  readonly key: string;
  /** 1-based. */
  readonly line: number;
  /** Offset of the value. */
  readonly start: number;
  readonly end: number;
}

export interface RecordLines {
  /** Lines of the blocks that name the agent, or of those for all agents if none names it. */
  readonly applying: readonly RecordLine[];
  /** Lines outside any block. */
  readonly outside: readonly RecordLine[];
  /**
   * Lines outside any block, and lines in a paragraph without user-agent line or rule. They stand
   * apart from all groups, so their author probably meant all agents.
   */
  readonly apart: readonly RecordLine[];
}

/**
 * The lines with one of `keys` (lower case) for `agent`. Blocks (see `GroupWalk`) apply as groups do: those that name
 * the agent, else those for all (RFC 9309 §2.2.1).
 */
export function recordsFor(file: RobotsFile, agent: string, keys: readonly string[]): RecordLines {
  const { bytes } = file;
  const traits = dialects[file.dialect];
  const caller = callerAgent(agent, traits);
  const wanted = keys.map((key) => ({ key, bytes: utf8.encode(key) }));
  /** By block: the agents it names. */
  const names: number[] = [];
  const found: (RecordLine & { readonly block: number; isApart: boolean })[] = [];
  /** Whether a user-agent line or rule came in this paragraph, and the first line found that a rule would tie to it. */
  let isGrouped = false;
  let before = 0;
  const walk = new GroupWalk(bytes, traits);
  const { cursor } = walk;
  while (walk.next()) {
    const { block } = walk;
    const { kind, line, valueStart: start, valueEnd: end } = cursor;
    if (kind === LINE_BLANK) {
      isGrouped = false;
      before = found.length;
    }
    if (kind === LINE_USER_AGENT) {
      isGrouped = true;
      before = found.length;
      names[block] = (names[block] ?? 0) | agentLineNames(bytes, start, end, caller, traits);
    } else if (kind === LINE_OTHER) {
      for (const { key, bytes } of wanted)
        if (cursor.keyIs(bytes)) found.push({ key, line, start, end, block, isApart: !isGrouped });
    }
    if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      for (; before < found.length; before++) found[before]!.isApart = false;
      isGrouped = true;
    }
  }
  const scope = names.some((mask) => (mask & NAMES_AGENT) !== 0) ? NAMES_AGENT : NAMES_ALL;
  return {
    applying: found.filter(({ block }) => ((names[block] ?? 0) & scope) !== 0),
    outside: found.filter(({ block }) => block < 0),
    apart: found.filter(({ block, isApart }) => block < 0 || isApart),
  };
}
