import type { VerdictCode } from '../contract/index.ts';
import { type Problem, VERDICT_OF, type Verdict, type VerdictStatus, type Verdicts } from './verdicts.ts';

/** Hostile evidence can be wrong in a million places: the first hundred say enough. */
const MOST_PROBLEMS = 100;

/** Gathers what one receipt or chain is at fault for, and turns it into the four verdicts. */
export class Findings {
  readonly #problems: Problem[] = [];
  readonly #notes = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #failed = new Set<Verdict>();
  readonly #assessed = new Set<Verdict>();
  #unlisted = 0;

  add(code: VerdictCode, where: string, message: string): void {
    const verdict = VERDICT_OF[code];
    this.#failed.add(verdict);
    if (this.#problems.length >= MOST_PROBLEMS) {
      this.#unlisted++;
      return;
    }
    const key = `${code} ${where}`;
    if (this.#seen.has(key)) return;
    this.#seen.add(key);
    this.#problems.push({ verdict, code, where, message });
  }

  note(text: string): void {
    if (this.#notes.size < MOST_PROBLEMS) this.#notes.add(text);
  }

  /** Says that a verdict was judged to its end: without this it is `not-assessed` unless it fails. */
  assessed(...verdicts: Verdict[]): void {
    for (const verdict of verdicts) this.#assessed.add(verdict);
  }

  problems(): Problem[] {
    return this.#problems;
  }

  notes(): string[] {
    const notes = [...this.#notes];
    if (this.#unlisted > 0) notes.push(`${this.#unlisted} further problems are not listed`);
    return notes;
  }

  verdicts(): Verdicts {
    const status = (verdict: Verdict): VerdictStatus => {
      if (this.#failed.has(verdict)) return 'fail';
      return this.#assessed.has(verdict) ? 'pass' : 'not-assessed';
    };
    return {
      integrity: status('integrity'),
      signer: status('signer'),
      completeness: status('completeness'),
      policy: status('policy'),
    };
  }
}
