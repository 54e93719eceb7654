import { readSync } from 'node:fs';
import { NATIVE_MACHINES } from './abi.ts';

/**
 * Threat: bytes that are no native ELF make the kernel ask binfmt_misc or a shebang for an interpreter, after the
 * digest and unseen by us. Only what passes here is ever handed to it.
 */
export type FileKind =
  | { readonly kind: 'elf'; readonly dynamic: boolean; readonly usesOrigin: boolean }
  | { readonly kind: 'script' }
  /** Neither: another machine's program, an archive, a picture. */
  | { readonly kind: 'other' };

const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_STRTAB = 5n;
const DT_RPATH = 15n;
const DT_RUNPATH = 29n;
const PT_LOAD = 1;
/** No real program has more; a larger count is not read. */
const MOST_HEADERS = 256;
const MOST_DYNAMIC_BYTES = 64 * 1024;
/** `bash` takes a file for a program if its first line, or this much of it, holds a NUL. */
const TEXT_PROBE_BYTES = 80;

export function classify(fd: number): FileKind {
  const head = readAt(fd, 0, 256);
  if (head.length >= 20 && head.readUInt32BE(0) === 0x7f454c46) return classifyElf(fd, head);
  if (head.toString('latin1', 0, 2) === '#!') return { kind: 'script' };
  const line = head.subarray(0, TEXT_PROBE_BYTES);
  const end = line.indexOf(0x0a);
  return { kind: (end < 0 ? line : line.subarray(0, end)).includes(0) ? 'other' : 'script' };
}

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: bigint;
  readonly size: number;
}

function classifyElf(fd: number, head: Buffer): FileKind {
  const wide = head[4] === 2;
  const littleEndian = head[5] === 1;
  if (!littleEndian || !NATIVE_MACHINES.includes(head.readUInt16LE(18))) return { kind: 'other' };
  if (head.length < (wide ? 64 : 52)) return { kind: 'other' };
  const segments = segmentsOf(fd, head, wide);
  const dynamic = segments.some((segment) => segment.type === PT_INTERP);
  return { kind: 'elf', dynamic, usesOrigin: dynamic && searchesOrigin(fd, segments, wide) };
}

function segmentsOf(fd: number, head: Buffer, wide: boolean): Segment[] {
  const offset = wide ? Number(head.readBigUInt64LE(32)) : head.readUInt32LE(28);
  const entrySize = head.readUInt16LE(wide ? 54 : 42);
  const count = Math.min(head.readUInt16LE(wide ? 56 : 44), MOST_HEADERS);
  if (entrySize < (wide ? 56 : 32)) return [];
  const table = readAt(fd, offset, entrySize * count);
  const segments: Segment[] = [];
  for (let at = 0; at + entrySize <= table.length; at += entrySize) {
    segments.push(
      wide
        ? {
            type: table.readUInt32LE(at),
            offset: Number(table.readBigUInt64LE(at + 8)),
            address: table.readBigUInt64LE(at + 16),
            size: Number(table.readBigUInt64LE(at + 32)),
          }
        : {
            type: table.readUInt32LE(at),
            offset: table.readUInt32LE(at + 4),
            address: BigInt(table.readUInt32LE(at + 8)),
            size: table.readUInt32LE(at + 16),
          },
    );
  }
  return segments;
}

/** `$ORIGIN` in RPATH or RUNPATH: the program finds its libraries beside itself and cannot run from a copy. */
function searchesOrigin(fd: number, segments: readonly Segment[], wide: boolean): boolean {
  const dynamic = segments.find((segment) => segment.type === PT_DYNAMIC);
  if (!dynamic) return false;
  const table = readAt(fd, dynamic.offset, Math.min(dynamic.size, MOST_DYNAMIC_BYTES));
  const word = wide ? 8 : 4;
  const read = (at: number): bigint => (wide ? table.readBigUInt64LE(at) : BigInt(table.readUInt32LE(at)));
  const paths: bigint[] = [];
  let strings: bigint | undefined;
  for (let at = 0; at + 2 * word <= table.length; at += 2 * word) {
    const tag = read(at);
    if (tag === 0n) break;
    if (tag === DT_STRTAB) strings = read(at + word);
    if (tag === DT_RPATH || tag === DT_RUNPATH) paths.push(read(at + word));
  }
  const base = strings === undefined ? undefined : fileOffset(segments, strings);
  if (base === undefined) return false;
  return paths.some((path) => /\$(ORIGIN|\{ORIGIN\})/.test(cString(readAt(fd, base + Number(path), 4096))));
}

function fileOffset(segments: readonly Segment[], address: bigint): number | undefined {
  const holder = segments.find(
    (segment) =>
      segment.type === PT_LOAD && address >= segment.address && address < segment.address + BigInt(segment.size),
  );
  return holder && holder.offset + Number(address - holder.address);
}

function cString(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
}

/** Up to `length` bytes; fewer, or none, where the file or a forged header ends sooner. */
export function readAt(fd: number, position: number, length: number): Buffer {
  if (!Number.isSafeInteger(position) || length <= 0) return Buffer.alloc(0);
  const bytes = Buffer.allocUnsafe(length);
  return bytes.subarray(0, readSync(fd, bytes, 0, length, position));
}
