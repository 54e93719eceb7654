import { ReceiptsError } from '../contract/errors.ts';

/**
 * The window a rule reads through. Looking past the last byte of an unfinished stream sets `need`, and whatever the
 * rule then concludes is discarded and asked again with more bytes: that alone makes every rule independent of how
 * the stream was split. `hold` is the earliest byte that the rule may still come to redact.
 */
export class View {
  bytes: Uint8Array = new Uint8Array(0);
  /** No byte will follow. */
  final = false;
  /** The stream may have been cut (a killed command), so open prefixes are redacted. */
  cut = false;
  need = false;
  hold = 0;
  steps = 0;
  #limit = 0;
  #ruleId = '';

  begin(ruleId: string, budget: number): void {
    this.need = false;
    this.hold = Number.POSITIVE_INFINITY;
    this.#ruleId = ruleId;
    this.#limit = this.steps + budget;
  }

  /** The byte at `index`, or -1 past the end. */
  at(index: number): number {
    if (++this.steps > this.#limit) throw redactionFailed(this.#ruleId, 'exceeded its step budget');
    if (index < this.bytes.length) return this.bytes[index] as number;
    if (!this.final) this.need = true;
    return -1;
  }

  isAtCut(index: number): boolean {
    return this.final && this.cut && index === this.bytes.length;
  }
}

/** Never carries a cause or any byte of the stream: the text of this error is shown and stored. */
export function redactionFailed(ruleId: string, what: string): ReceiptsError {
  return new ReceiptsError('REDACTION_FAILED', `Redaction rule ${ruleId} ${what}.`, {
    where: ruleId,
    next: 'Correct or remove the rule; the output of this stream was not stored.',
  });
}
