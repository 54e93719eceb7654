import type { TSchema } from 'typebox';
import { Head, JournalLine } from './schema/journal.ts';
import { ChunkHeader } from './schema/outcome.ts';
import { CommandReceipt } from './schema/receipt.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

function published(name: string, schema: TSchema): Record<string, unknown> {
  return { $schema: DIALECT, $id: `urn:command-receipts:schema:${name}`, title: name, ...schema };
}

/** The schemas that readers in other languages start from, by file name. */
export const PUBLISHED_SCHEMAS: Readonly<Record<string, Record<string, unknown>>> = {
  'command-receipt.v1.json': published('command-receipt.v1', CommandReceipt),
  'head.v1.json': published('head.v1', Head),
  'journal-line.v1.json': published('journal-line.v1', JournalLine),
  'chunk-header.v1.json': published('chunk-header.v1', ChunkHeader),
};
