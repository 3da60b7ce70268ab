const LF = 0x0a;
const CR = 0x0d;

/** Finds the line numbers of offsets. Ascending offsets are counted in one walk over the file. */
export class LineCounter {
  private readonly bytes: Uint8Array;
  private at = 0;
  private line = 1;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  /** 1-based line of an offset; lines end at LF, CR or CRLF. */
  lineAt(offset: number): number {
    const { bytes } = this;
    if (offset < this.at) {
      this.at = 0;
      this.line = 1;
    }
    let { at, line } = this;
    for (; at < offset; at++) {
      const octet = bytes[at]!;
      if (octet <= CR && (octet === LF || (octet === CR && bytes[at + 1] !== LF))) line++;
    }
    this.at = at;
    return (this.line = line);
  }
}
