import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify, type FileKind } from '../../src/launch/linux/elf.ts';
import { workspace } from './harness.ts';

const root = workspace();

function classifyBytes(bytes: Uint8Array): FileKind {
  const path = join(root, 'file');
  writeFileSync(path, bytes);
  return classifyFile(path);
}

function classifyFile(path: string): FileKind {
  const fd = openSync(path, 'r');
  try {
    return classify(fd);
  } finally {
    closeSync(fd);
  }
}

describe('what a file is, by its first bytes', () => {
  test('native programs', () => {
    expect(classifyFile('/bin/true')).toEqual({ kind: 'elf', dynamic: true, usesOrigin: false });
    expect(classifyFile(process.execPath)).toMatchObject({ kind: 'elf', dynamic: true });
  });

  test.each<[string, FileKind['kind']]>([
    ['', 'script'],
    ['#!', 'script'],
    ['#!/bin/sh\n\0\0', 'script'],
    ['echo hi\n\0', 'script'],
    ['echo\0hi\n', 'other'],
    ['PK\x03\x04\0', 'other'],
    ['\x7fELF', 'script'],
    [`\x7fELF\x02\x01\x01${'\0'.repeat(20)}`, 'other'],
  ])('%j is %s', (text, kind) => {
    expect(classifyBytes(Buffer.from(text, 'latin1')).kind).toBe(kind);
  });

  test('an ELF with forged headers is read without a throw', () => {
    const program = readFileSync('/bin/true');
    const place = fc.integer({ min: 16, max: 64 + 13 * 56 });
    fc.assert(
      fc.property(fc.array(fc.tuple(place, fc.integer({ min: 0, max: 255 })), { maxLength: 12 }), (changes) => {
        const forged = Buffer.from(program);
        for (const [at, value] of changes) forged[at] = value;
        expect(['elf', 'other']).toContain(classifyBytes(forged).kind);
      }),
      { numRuns: 200 },
    );
  });
});
