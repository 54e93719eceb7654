import { randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A log and a document per run. Keeping records must not break anybody's build, so what cannot be written is passed over. */
export function store(directory, task = randomUUID()) {
  const receiptId = randomUUID();
  const place = join(directory, task, 'receipts', receiptId);
  let log;
  quietly(() => {
    mkdirSync(place, { recursive: true });
    log = openSync(join(directory, task, 'journal.jsonl'), 'a');
  });
  return {
    journal(event, facts) {
      quietly(() => {
        writeSync(log, `${JSON.stringify({ event, receiptId, facts })}\n`);
        fsyncSync(log);
      });
    },
    seal(facts, bodies) {
      quietly(() => {
        for (const [name, bytes] of Object.entries(bodies))
          if (bytes.length > 0) writeFileSync(join(place, `${name}.txt`), bytes);
        const document = { schema: 'command-receipt.v1', receiptId, task: { id: task }, ...facts };
        writeFileSync(join(place, 'receipt.json'), JSON.stringify(document, null, 2));
        closeSync(log);
      });
    },
  };
}

function quietly(work) {
  try {
    work();
  } catch {
    // As said above.
  }
}
