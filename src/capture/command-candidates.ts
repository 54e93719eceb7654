export const LF = 0x0a;
export const CR = 0x0d;

/** Finds line ends in one buffer; positions are asked for in rising order, so that each byte is looked at once. */
export class LineEnds {
  readonly #data: Buffer;
  #lf = -1;
  #cr = -1;

  constructor(data: Buffer) {
    this.#data = data;
  }

  /** The first CR or LF at or after `from`, or -1. */
  after(from: number): number {
    if (this.#lf < from) this.#lf = this.#find(LF, from);
    if (this.#cr < from) this.#cr = this.#find(CR, from);
    const end = Math.min(this.#lf, this.#cr);
    return end === Number.POSITIVE_INFINITY ? -1 : end;
  }

  #find(byte: number, from: number): number {
    const found = this.#data.indexOf(byte, from);
    return found < 0 ? Number.POSITIVE_INFINITY : found;
  }
}

/** Where the scan of one buffer starts: at the beginning of a line, or in one that already had its `##[`. */
export interface LineState {
  readonly fresh: boolean;
  readonly spent: boolean;
}

/**
 * Where something begins that may be a command, in rising order, what the end of the buffer cuts off included: `::` with
 * nothing but white space before it in its line, or the first `##[` of a line.
 */
export class Candidates {
  readonly #data: Buffer;
  readonly #fresh: boolean;
  readonly #ends: LineEnds;
  #spentUntil: number;

  constructor(data: Buffer, state: LineState) {
    this.#data = data;
    this.#fresh = state.fresh;
    this.#ends = new LineEnds(data);
    this.#spentUntil = state.spent ? this.#lineEnd(0) : 0;
  }

  /** The buffer ends in a line that had its `##[`. */
  get spent(): boolean {
    return this.#spentUntil === Number.POSITIVE_INFINITY;
  }

  *[Symbol.iterator](): Generator<number> {
    let colons = this.#data.indexOf('::');
    let brackets = this.#data.indexOf('##[');
    while (colons >= 0 || brackets >= 0) {
      if (colons >= 0 && (brackets < 0 || colons < brackets)) {
        const start = this.lineStart(colons);
        if (start !== undefined) yield start;
        colons = this.#nextLine('::', colons);
      } else {
        if (brackets >= this.#spentUntil) {
          yield brackets;
          this.#spentUntil = this.#lineEnd(brackets);
        }
        brackets = this.#nextLine('##[', brackets);
      }
    }
    const opening = this.#openingAtEnd();
    if (opening < this.#data.length) yield opening;
  }

  /** The start of the line when only white space stands between it and `index`. */
  lineStart(index: number): number | undefined {
    let start = index;
    while (start > 0 && isSpace(this.#data[start - 1])) start--;
    const before = this.#data[start - 1];
    const begins = start === 0 ? this.#fresh : before === LF || before === CR;
    return begins ? start : undefined;
  }

  /** Where the last bytes may begin an opening: white space and one colon, or one or two number signs. */
  #openingAtEnd(): number {
    const { length } = this.#data;
    const start = this.lineStart(this.#data[length - 1] === 0x3a ? length - 1 : length);
    if (start !== undefined && start < length) return start;
    if (this.spent) return length;
    const signs = /#{1,2}$/.exec(this.#data.toString('latin1', Math.max(length - 2, 0)))?.[0];
    return length - (signs?.length ?? 0);
  }

  /** Only the first in a line counts. */
  #nextLine(text: string, index: number): number {
    const end = this.#lineEnd(index);
    return end === Number.POSITIVE_INFINITY ? -1 : this.#data.indexOf(text, end);
  }

  #lineEnd(from: number): number {
    const end = this.#ends.after(from);
    return end < 0 ? Number.POSITIVE_INFINITY : end;
  }
}

function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0b || byte === 0x0c;
}
