/**
 * One match, in positions of the raw stream. Every occurrence of every rule is found independently of all others;
 * only the emitter joins them. `ownEnd` is the match's own end, `end` that of the touching literals folded into it.
 */
export interface Found {
  start: number;
  ownEnd: number;
  /** Infinity while the match is still swallowing. */
  end: number;
  readonly rule: number;
  /** Taken by the emitter: nothing may be folded into it any more. */
  isTaken: boolean;
}

export function foundAt(start: number, end: number, rule: number): Found {
  return { start, ownEnd: end, end, rule, isTaken: false };
}

/** From a position in the bytes a matcher sees to the position in the raw stream. */
export interface PositionMap {
  toRaw(position: number): number;
}

export const SAME_POSITIONS: PositionMap = { toRaw: (position) => position };
