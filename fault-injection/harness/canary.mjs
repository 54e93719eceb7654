import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { filesUnder } from './artifact.mjs';
import { needlesOf } from './tokens.mjs';

/** Searches every file below some places, and the names of these files, for tokens in all their forms. */
export function leaks(tokens, places) {
  const haystacks = places.flatMap(filesUnder).flatMap(bytesOf);
  return tokens.flatMap((token) => {
    const needles = needlesOf(token);
    const found = haystacks.filter(({ bytes }) => needles.some((needle) => bytes.includes(needle)));
    return found.map(({ where }) => ({ token, where }));
  });
}

/** A file's name and bytes, and of an envelope also the payload that its base64 hides from a search. */
function bytesOf(path) {
  const bytes = readFileSync(path);
  // A program that was copied to be run, by its digest: it is what it was, and a hundred megabytes of it.
  if (createHash('sha256').update(bytes).digest('hex') === basename(path)) return [];
  const haystacks = [
    { where: `the name of ${path}`, bytes: Buffer.from(path) },
    { where: path, bytes },
  ];
  if (path.endsWith('.dsse.json')) {
    haystacks.push({ where: `the payload of ${path}`, bytes: Buffer.from(JSON.parse(bytes).payload, 'base64') });
  }
  return haystacks;
}
