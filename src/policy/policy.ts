import { canonicalBytes, digestOf } from '../contract/index.ts';
import type { PolicyDocument } from './schema.ts';

/** A policy as it is in force: the parsed document and the digest that receipts carry. */
export interface Policy {
  readonly document: PolicyDocument;
  /** Over the RFC 8785 form of the parsed document. */
  readonly digest: string;
  readonly source: 'file' | 'built-in';
  /** The file, or the built-in policy's name. */
  readonly name: string;
}

/** What holds where a repository has no policy of its own: everything may run, and the receipt says who decided so. */
export function builtInPolicy(): Policy {
  const document: PolicyDocument = { version: 1, default: 'allow' };
  return {
    document,
    digest: digestOf(canonicalBytes({ builtIn: 'default-allow/1', ...document })),
    source: 'built-in',
    name: 'default-allow/1',
  };
}
