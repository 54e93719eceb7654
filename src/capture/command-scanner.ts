import { Candidates, CR, LF, LineEnds } from './command-candidates.ts';
import { lowerCase, type WorkflowCommands } from './workflow-commands.ts';

/** A run of bytes that go on as they are, or one that asked for a mask and goes nowhere. */
export type Piece =
  | { readonly kind: 'text'; readonly bytes: Uint8Array }
  /** `value` is empty for what still belongs to the command before. */
  | { readonly kind: 'mask'; readonly bytes: Uint8Array; readonly value: string };

/** The longest command line that is read whole. A longer value is cut here, and the rest of its line withheld as well. */
const LONGEST_COMMAND = 128 * 1024;
/** What may stand before a command's name and in it. */
const LONGEST_OPENING = 4096;

const NOTHING = Buffer.alloc(0);
const COLONS = /^[\t\v\f ]*::/;

/**
 * Finds the workflow commands that matter here in one stream, wherever its reads are cut. Only a line that may still
 * become one of them is held back; `::` and `##[` are looked for with the native search, so ordinary output is not slowed.
 */
export class CommandScanner {
  readonly #commands: WorkflowCommands;
  #held: Buffer = NOTHING;
  #state = { fresh: true, spent: false };
  /** What was passed on of the current line, should it begin with `::`: that form goes before the other. */
  #passed: Buffer = NOTHING;
  /** What of the next bytes belongs to a command that was withheld. */
  #withholding: 'line' | 'line-feed' | 'nothing' = 'nothing';

  constructor(commands: WorkflowCommands) {
    this.#commands = commands;
  }

  /** Pieces in order. The state of the commands is always the one after the piece taken last. */
  *push(bytes: Uint8Array): Generator<Piece> {
    if (bytes.length === 0) return;
    const added = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const data = this.#held.length === 0 ? added : Buffer.concat([this.#held, added]);
    this.#held = NOTHING;
    const rest = this.#restOfCommand(data);
    if (rest > 0) yield { kind: 'mask', bytes: data.subarray(0, rest), value: '' };
    if (rest < data.length) yield* this.#scan(data.subarray(rest));
  }

  /** What is held back when the stream ends: the last line needs no line end. */
  *end(): Generator<Piece> {
    const bytes = this.#held;
    this.#held = NOTHING;
    if (bytes.length === 0) return;
    const value = this.#commands.read(this.#lineOf(bytes));
    yield value === undefined ? { kind: 'text', bytes } : { kind: 'mask', bytes, value };
  }

  *#scan(data: Buffer): Generator<Piece> {
    const candidates = new Candidates(data, this.#state);
    const ends = new LineEnds(data);
    let from = 0;
    for (const start of candidates) {
      if (start < from) continue;
      const end = ends.after(start);
      const line = data.subarray(start, end < 0 ? data.length : end);
      const found = this.#classify(line, end >= 0);
      if (found === 'text') continue;
      if (start > from) yield { kind: 'text', bytes: data.subarray(from, start) };
      this.#keepLine(data, start);
      if (end < 0 && (found === 'undecided' || line.length < LONGEST_COMMAND)) return this.#hold(data, start);
      const value = this.#commands.read(this.#lineOf(line));
      from = value === undefined ? afterLine(data, end) : this.#afterMask(data, line, end);
      const bytes = data.subarray(start, from);
      yield value === undefined ? { kind: 'text', bytes } : { kind: 'mask', bytes, value };
    }
    this.#keepLine(data, data.length);
    this.#state = { fresh: this.#begins(data, data.length), spent: candidates.spent };
    if (from < data.length) yield { kind: 'text', bytes: data.subarray(from) };
  }

  /** What is held was a candidate: its line can still be a command. */
  #hold(data: Buffer, start: number): void {
    this.#held = Buffer.from(data.subarray(start));
    this.#state = { fresh: this.#begins(data, start), spent: false };
  }

  #begins(data: Buffer, index: number): boolean {
    const before = data[index - 1];
    return index === 0 ? this.#state.fresh : before === LF || before === CR;
  }

  /** Remembers the bytes between the beginning of a line and `index` where they begin with `::`. */
  #keepLine(data: Buffer, index: number): void {
    const before = data.subarray(0, index);
    const start = Math.max(before.lastIndexOf(LF), before.lastIndexOf(CR)) + 1;
    const part = before.subarray(start);
    const goesOn = start === 0 && !this.#state.fresh;
    // Nothing kept of a line that goes on: it began otherwise.
    const line = !goesOn ? part : this.#passed.length === 0 ? NOTHING : Buffer.concat([this.#passed, part]);
    const keep = line.length <= LONGEST_COMMAND && COLONS.test(line.toString('latin1', 0, LONGEST_OPENING));
    this.#passed = keep ? Buffer.from(line) : NOTHING;
  }

  #lineOf(bytes: Buffer): string {
    return Buffer.concat([this.#passed, bytes]).toString('utf8');
  }

  #classify(line: Buffer, ended: boolean): 'text' | 'undecided' | 'command' {
    const text = line.toString('latin1', 0, LONGEST_OPENING);
    const [before, opening] = /^[\t\v\f ]*(::|##\[)/.exec(text) ?? [];
    const open = ended || line.length > LONGEST_OPENING ? 'text' : 'undecided';
    if (before === undefined || opening === undefined) return open;
    const rest = lowerCase(text.slice(before.length));
    const { watched } = this.#commands;
    const name = (opening === '::' ? /^(.*?)(?: |::)/s : /^(.*?)[ \]]/s).exec(rest)?.[1];
    if (name !== undefined) return watched.includes(name) ? 'command' : 'text';
    const begun = rest.endsWith(':') ? [rest, rest.slice(0, -1)] : [rest];
    return watched.some((candidate) => begun.some((beginning) => candidate.startsWith(beginning))) ? open : 'text';
  }

  /** A line in the `##[` form may begin with text: its end stays, so that the text does not run into the next line. */
  #afterMask(data: Buffer, line: Buffer, end: number): number {
    this.#withholding = end < 0 ? 'line' : 'nothing';
    if (end < 0) return data.length;
    if (line[0] === 0x23) return end;
    if (data[end] === CR && end + 1 === data.length) this.#withholding = 'line-feed';
    return afterLine(data, end);
  }

  #restOfCommand(data: Buffer): number {
    const asked = this.#withholding;
    this.#withholding = 'nothing';
    if (asked === 'line-feed') return data[0] === LF ? 1 : 0;
    if (asked === 'nothing') return 0;
    const end = new LineEnds(data).after(0);
    if (end < 0) this.#withholding = 'line';
    return end < 0 ? data.length : end;
  }
}

function afterLine(data: Buffer, end: number): number {
  if (end < 0) return data.length;
  return data[end] === CR && data[end + 1] === LF ? end + 2 : end + 1;
}
