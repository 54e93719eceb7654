import { isVerified, type Matcher } from './opening.ts';
import { type BlockSwallow, isLabelByte } from './swallow.ts';
import type { BlockRule } from './types.ts';

export const BLOCK_ANCHOR = '-----BEGIN ';
const LABEL_LIMIT = 64;
const HYPHEN = 0x2d;
const DASHES = 5;

/** `-----BEGIN RSA PRIVATE KEY-----`: the label decides, five hyphens close it. */
export function blockMatcher(rule: BlockRule, index: number): Matcher {
  const swallow: BlockSwallow = { kind: 'block', rule: index, label: rule.label };
  return (view, position, length) => {
    view.hold = position;
    const from = position + length;
    let end = from;
    while (end < from + LABEL_LIMIT && isLabelByte(view.at(end))) end++;
    for (let i = 0; i < DASHES; i++) if (view.at(end + i) !== HYPHEN) return undefined;
    const label = Buffer.from(view.bytes.subarray(from, end)).toString('latin1');
    if (!label.includes(rule.label)) return undefined;
    if (view.need || !isVerified(rule, view, position, end + DASHES)) return undefined;
    return { start: position, resume: end + DASHES, swallow };
  };
}
