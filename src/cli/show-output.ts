import { EXIT, ReceiptsError } from '../contract/index.ts';
import {
  type ReceiptVerification,
  readOutput,
  readUnverifiedOutput,
  type StoredOutput,
  type StreamName,
} from '../verify/index.ts';
import { printError, say } from './output.ts';

/**
 * `receipts show --output`. Whoever can write the store can put any text in the place of what a command printed, and a link in
 * the place of a file: bytes are shown when they are the ones that a trusted key signed for, else only to those who insist.
 * Exit codes are those of `show`.
 */
export function showOutput(receipt: ReceiptVerification, stream: StreamName, unverified: boolean): number {
  const doubts = doubtsAbout(receipt);
  if (doubts.length > 0 && !unverified) {
    say(`${doubts.join(', ')}: the ${stream} of this receipt is not shown. See why with: receipts show`);
    say('add --unverified to print it nevertheless');
    return EXIT.notVerified;
  }
  try {
    const output = doubts.length > 0 ? readUnverifiedOutput(receipt, stream) : readOutput(receipt, stream);
    if (output === undefined) say(`the receipt has no ${stream}`);
    else printOutput(output);
  } catch (error) {
    if (!(error instanceof ReceiptsError)) throw error;
    printError(error);
    return EXIT.notVerified;
  }
  return receipt.verified ? EXIT.ok : EXIT.notVerified;
}

/** The codes for which stored bytes cannot be taken for the command's; without a trusted signer nothing vouches for them. */
function doubtsAbout({ verdicts, problems }: ReceiptVerification): string[] {
  if (verdicts.integrity === 'pass') return [];
  const verdict = verdicts.integrity === 'fail' ? 'integrity' : 'signer';
  return [...new Set(problems.filter((problem) => problem.verdict === verdict).map(({ code }) => code))];
}

function printOutput({ head, tail, droppedBytes }: StoredOutput): void {
  process.stdout.write(head);
  if (droppedBytes !== 0) {
    process.stderr.write('\n');
    say(`… ${droppedBytes ?? 'an unknown number of'} bytes were dropped here …`);
  }
  process.stdout.write(tail);
}
