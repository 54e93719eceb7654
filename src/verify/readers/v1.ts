import { PAYLOAD_TYPES } from '../../contract/dsse.ts';
import type { CommandReceipt } from '../../contract/index.ts';
import { CommandReceipt as CommandReceiptSchema } from '../../contract/schema/receipt.ts';
import { fieldErrors } from '../../contract/validate.ts';
import type { CommandFacts } from '../facts.ts';
import type { ReceiptReader } from './reader.ts';

/** `command-receipt.v1`: the facts are the payload itself. */
export const readerV1: ReceiptReader = {
  schema: 'command-receipt.v1',
  payloadType: PAYLOAD_TYPES.receipt,
  faults: (payload) => fieldErrors(CommandReceiptSchema, payload),
  facts: (payload, receiptDigest) => factsOf(payload as CommandReceipt, receiptDigest),
};

function factsOf(receipt: CommandReceipt, receiptDigest: string): CommandFacts {
  const started = receipt.started === 'yes' ? receipt : null;
  return {
    schema: receipt.schema,
    receiptId: receipt.receiptId,
    receiptDigest,
    task: receipt.task,
    chain: receipt.chain,
    context: receipt.context,
    command: receipt.command,
    argv: receipt.argv,
    started: receipt.started,
    cwd: receipt.cwd,
    executable: receipt.executable,
    interpreters: receipt.interpreters,
    script: receipt.script ?? null,
    environment: receipt.environment,
    policy: receipt.policy,
    sandbox: started?.sandbox ?? null,
    time: receipt.time,
    process: started?.process ?? null,
    termination: receipt.termination,
    streams: started?.streams ?? null,
    redaction: receipt.redaction,
    evidence: receipt.evidence,
    executor: receipt.executor,
    rollout: receipt.rollout,
  };
}
