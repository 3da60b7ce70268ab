import type { DialectTraits } from './dialect.ts';
import {
  LINE_ALLOW,
  LINE_BLANK,
  LINE_DISALLOW,
  LINE_OTHER,
  LINE_USER_AGENT,
  LineCursor,
} from './line-cursor.ts';

/**
 * Walks a file line by line and tracks the group and the block of each line. For descriptions of a file; decisions
 * use the compiled rules.
 *
 * Allow and disallow lines belong to groups, as in RFC 9309: only a rule ends a run of user-agent lines. All other
 * records except `Sitemap` belong to blocks: each counts for the user-agent lines directly above it, and a user-agent
 * line after one of them starts a new block. So in `User-agent: a`, `Crawl-delay: 5`, `User-agent: b`, `Disallow: /`
 * both agents have the rule, but only `a` has the delay.
 *
 * NOTE(rfc9309): the standard does not define such records. With groups, one file in six with `Crawl-delay` would
 * give some agent a delay that nobody wrote for it; draft-ietf-aipref-attach-05 §3 makes `Content-Usage` a rule,
 * which ends a run too.
 */
export class GroupWalk {
  readonly cursor: LineCursor;
  /** Number of the group the line is in, in file order from 0; -1 outside any. */
  group = -1;
  /** Whether the line is a user-agent line that starts a group. */
  starts = false;
  /** Whether no rule has come since the group started, so that a further user-agent line belongs to it. */
  open = false;
  /** Number of the block the line is in, in file order from 0; -1 outside any. */
  block = -1;
  #blockOpen = false;
  #groups = 0;
  #blocks = 0;
  readonly #traits: DialectTraits;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    this.cursor = new LineCursor(bytes, traits);
    this.#traits = traits;
  }

  /** Moves to the next line; false past the last one. */
  next(): boolean {
    if (!this.cursor.next()) return false;
    const { kind } = this.cursor;
    this.starts = kind === LINE_USER_AGENT && !this.open;
    if (this.starts) this.group = this.#groups++;
    if (kind === LINE_USER_AGENT) {
      if (!this.#blockOpen) this.block = this.#blocks++;
      this.open = this.#blockOpen = true;
    } else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) this.open = this.#blockOpen = false;
    else if (kind === LINE_OTHER) this.#blockOpen = false;
    else if (kind === LINE_BLANK && this.#traits.blankLineEndsRecord) {
      // robotstxt.org: "you may not have blank lines in a record, as they are used to delimit multiple records".
      this.open = this.#blockOpen = false;
      this.group = this.block = -1;
    }
    return true;
  }
}
