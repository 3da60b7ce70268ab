import type { DialectTraits } from './dialect.ts';
import { LINE_ALLOW, LINE_BLANK, LINE_DISALLOW, LINE_USER_AGENT, LineCursor } from './line-cursor.ts';

/** Walks a file line by line, knowing which group each line is in. For showing a file; deciding has its own way. */
export class GroupWalk {
  readonly cursor: LineCursor;
  /** Number of the group the line is in, in file order from 0; -1 outside any. */
  group = -1;
  /** The line is a user-agent line and starts a group. */
  starts = false;
  /** Only user-agent lines, and lines that are no rules, came since the group started. */
  open = false;
  private groups = 0;
  private readonly traits: DialectTraits;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.cursor = new LineCursor(bytes, traits);
    this.traits = traits;
  }

  /** Moves to the next line; false past the last one. */
  next(): boolean {
    if (!this.cursor.next()) return false;
    const { kind } = this.cursor;
    this.starts = kind === LINE_USER_AGENT && !this.open;
    if (this.starts) this.group = this.groups++;
    if (kind === LINE_USER_AGENT) this.open = true;
    else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) this.open = false;
    else if (kind === LINE_BLANK && this.traits.blankLineEndsRecord) {
      // robotstxt.org: "you may not have blank lines in a record, as they are used to delimit multiple records".
      this.open = false;
      this.group = -1;
    }
    return true;
  }
}
