import type { PositionMap } from './found.ts';

/** Where bytes were removed, as positions in the shadow, and how many in all up to there. */
export class GapMap implements PositionMap {
  #positions: number[] = [];
  #removed: number[] = [];
  #removedBefore = 0;

  get lastGap(): number {
    return this.#positions.at(-1) ?? -1;
  }

  get lastGapInRaw(): number {
    return this.lastGap + (this.#removed.at(-1) ?? this.#removedBefore);
  }

  add(position: number, count: number): void {
    const total = (this.#removed.at(-1) ?? this.#removedBefore) + count;
    if (this.lastGap === position) this.#removed[this.#removed.length - 1] = total;
    else {
      this.#positions.push(position);
      this.#removed.push(total);
    }
  }

  toRaw(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#positions[middle] as number) <= position) low = middle + 1;
      else high = middle;
    }
    return position + (low === 0 ? this.#removedBefore : (this.#removed[low - 1] as number));
  }

  /** Forgets all but the last of the gaps before `position`. */
  prune(position: number): void {
    let count = 0;
    while (count + 1 < this.#positions.length && (this.#positions[count + 1] as number) < position) count++;
    if (count === 0) return;
    this.#removedBefore = this.#removed[count - 1] as number;
    this.#positions = this.#positions.slice(count);
    this.#removed = this.#removed.slice(count);
  }
}
