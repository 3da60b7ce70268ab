import type { DialectTraits } from './dialect.ts';
import {
  LINE_ALLOW,
  LINE_BLANK,
  LINE_DISALLOW,
  LINE_OTHER,
  LINE_USER_AGENT,
  LineCursor,
} from './parse-line.ts';

/**
 * Tracks the group and the block that a line belongs to.
 *
 * Allow and disallow lines belong to groups, as in RFC 9309: only a rule ends a run of user-agent lines. All other
 * records except `Sitemap` belong to blocks: each applies to the user-agent lines directly above it, and a user-agent
 * line after one of them starts a new block. So in `User-agent: a`, `Crawl-delay: 5`, `User-agent: b`, `Disallow: /`
 * both agents have the rule, but only `a` has the delay.
 *
 * NOTE(rfc9309): the standard does not define such records. With groups, one file in six with `Crawl-delay` would
 * give some agent a delay that was not written for it; draft-ietf-aipref-attach-05 §3 makes `Content-Usage` a rule,
 * which ends a run too.
 */
export class GroupTracker {
  /** Number of the group the line is in, in file order from 0; -1 outside any. */
  group = -1;
  /** Number of the block the line is in, in file order from 0; -1 outside any. */
  block = -1;
  /** Whether the line is a user-agent line that starts a group. */
  startsGroup = false;
  /** Whether the line is a user-agent line that starts a block. */
  startsBlock = false;
  /** Whether a user-agent line on the next line would belong to the same group. */
  acceptsAgents = false;
  /** Whether a user-agent line on the next line would belong to the same block. */
  blockAcceptsAgents = false;
  #groups = 0;
  #blocks = 0;
  readonly #blankLineEndsRecord: boolean;

  constructor(traits: DialectTraits) {
    this.#blankLineEndsRecord = traits.blankLineEndsRecord;
  }

  /** Moves to a line of this kind. */
  enter(kind: number): void {
    const isAgentLine = kind === LINE_USER_AGENT;
    this.startsGroup = isAgentLine && !this.acceptsAgents;
    this.startsBlock = isAgentLine && !this.blockAcceptsAgents;
    if (this.startsGroup) this.group = this.#groups++;
    if (this.startsBlock) this.block = this.#blocks++;
    if (isAgentLine) {
      this.acceptsAgents = this.blockAcceptsAgents = true;
    } else if (kind === LINE_OTHER) {
      // RFC 9309 §2.2.4: parsing of other records "MUST NOT interfere": they end no group.
      this.blockAcceptsAgents = false;
    } else if (kind === LINE_ALLOW || kind === LINE_DISALLOW) {
      this.acceptsAgents = this.blockAcceptsAgents = false;
    } else if (kind === LINE_BLANK && this.#blankLineEndsRecord) {
      // robotstxt.org: "you may not have blank lines in a record, as they are used to delimit multiple records".
      this.acceptsAgents = this.blockAcceptsAgents = false;
      this.group = this.block = -1;
    }
  }
}

/** Walks all lines of a file, for descriptions of it. Decisions read only the lines that matter (`matcher/select.ts`). */
export class GroupWalk extends GroupTracker {
  readonly cursor: LineCursor;

  constructor(bytes: Uint8Array, traits: DialectTraits) {
    super(traits);
    this.cursor = new LineCursor(bytes, traits);
  }

  /** Moves to the next line; false past the last one. */
  next(): boolean {
    if (!this.cursor.next()) return false;
    this.enter(this.cursor.kind);
    return true;
  }
}
