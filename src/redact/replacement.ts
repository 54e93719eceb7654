/** The id under which literals are replaced and counted. */
export const LITERAL_ID = 'literal';

export const REPLACEMENT_START = Buffer.from('[REDACTED:');

export function replacementText(id: string): string {
  return `[REDACTED:${id}]`;
}
