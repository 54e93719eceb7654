const MOST_BYTES = 256;

/** What names that people give to tasks, steps and artifacts have to be, for messages: `--task takes …`. */
export const LABEL_FORM = `1 to ${MOST_BYTES} bytes without control characters`;

export function isLabel(text: string): boolean {
  return text !== '' && Buffer.byteLength(text) <= MOST_BYTES && !/[\0-\x1f\x7f]/.test(text);
}
