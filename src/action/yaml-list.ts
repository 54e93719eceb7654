import { parseDocument } from 'yaml';

/**
 * A YAML document with every scalar as it is written: the fail-safe schema has strings only, so `- 8080` is the argument
 * `8080` and `- no` the argument `no`. Undefined for what is no YAML. Imported only when there is some.
 */
export function parseYamlList(text: string): unknown {
  const document = parseDocument(text, { schema: 'failsafe', prettyErrors: false });
  if (document.errors.length > 0 || document.warnings.length > 0) return undefined;
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch (error) {
    // An alias: nobody needs one in a list of arguments.
    if (error instanceof ReferenceError) return undefined;
    throw error;
  }
}
