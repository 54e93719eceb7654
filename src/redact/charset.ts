/** 256 entries, 1 where the byte belongs to the charset. */
export type ByteTable = Uint8Array;

const tables = new Map<string, ByteTable>();

/** Reads `A-Za-z0-9_-`; a hyphen that stands last is itself. ASCII only. */
export function byteTable(charset: string): ByteTable {
  const known = tables.get(charset);
  if (known !== undefined) return known;
  const table = new Uint8Array(256);
  for (let i = 0; i < charset.length; i++) {
    const first = charset.charCodeAt(i);
    const isRange = charset[i + 1] === '-' && i + 2 < charset.length;
    const last = isRange ? charset.charCodeAt(i + 2) : first;
    table.fill(1, first, last + 1);
    if (isRange) i += 2;
  }
  tables.set(charset, table);
  return table;
}

/** Every byte but the controls, space, DEL and those named. Bytes from 0x80 on are included. */
export function printableExcept(excluded: string): ByteTable {
  const table = new Uint8Array(256).fill(1);
  table.fill(0, 0, 0x21);
  table[0x7f] = 0;
  for (const character of excluded) table[character.charCodeAt(0)] = 0;
  return table;
}

export const HEX = byteTable('0-9A-Fa-f');
export const WORD = byteTable('A-Za-z0-9_');

export function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

export function isLower(byte: number): boolean {
  return byte >= 0x61 && byte <= 0x7a;
}

export function isUpper(byte: number): boolean {
  return byte >= 0x41 && byte <= 0x5a;
}

export function lowered(byte: number): number {
  return isUpper(byte) ? byte | 0x20 : byte;
}
