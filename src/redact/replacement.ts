/** The id under which literals are replaced and counted. */
export const LITERAL_ID = 'literal';

export const REPLACEMENT_START = Buffer.from('[REDACTED:');

export function replacementText(id: string): string {
  return `[REDACTED:${id}]`;
}

/** A longer rule id is refused, so that a replacement text can be recognised by looking back. */
export const LONGEST_ID = 48;
