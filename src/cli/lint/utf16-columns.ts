const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** Turns columns counted in octets into columns counted in UTF-16 code units. Lines are asked for in order. */
export class Utf16Columns {
  private readonly bytes: Uint8Array;
  private line = 1;
  private start: number;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
    // A byte order mark does not count.
    this.start = BYTE_ORDER_MARK.every((octet, index) => bytes[index] === octet) ? BYTE_ORDER_MARK.length : 0;
  }

  /** Both are 1-based. `line` is not above the one asked for before. */
  of(line: number, column: number): number {
    for (; this.line < line && this.start < this.bytes.length; this.start++) {
      const octet = this.bytes[this.start];
      if (octet === LF || (octet === CR && this.bytes[this.start + 1] !== LF)) this.line++;
    }
    return decoder.decode(this.bytes.subarray(this.start, this.start + column - 1)).length + 1;
  }
}
