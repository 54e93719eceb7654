import { basename, dirname } from 'node:path';
import { digestOf, type Envelope } from '../contract/index.ts';
import { reportCompleteness } from './completeness.ts';
import { type EvidenceListing, verifyDirectory } from './directory.ts';
import { verifyEquations } from './equations.ts';
import type { CommandFacts } from './facts.ts';
import { Findings } from './findings.ts';
import type { JudgeContext } from './options.ts';
import { verifyOutput } from './output.ts';
import { readerFor } from './readers/index.ts';
import type { ReceiptReader } from './readers/reader.ts';
import { verifyRules } from './rules.ts';
import {
  openEnvelope,
  openPayload,
  readStatement,
  type SignedStatement,
  verifyKey,
  verifySignature,
} from './statement.ts';
import { isVerified, type ReceiptVerification } from './verdicts.ts';

interface ReceiptInput {
  /** Of the envelope. */
  readonly path: string;
  /** What lies beside it; undefined for a file given alone, whose surroundings are not evidence. */
  readonly listing: EvidenceListing | undefined;
  /** The directory has to be named after the receipt. */
  readonly named: boolean;
  /** Milliseconds; until then a missing body is a fault. */
  readonly bodiesExpireAt: number;
  /** The receipt is judged within its chain. */
  readonly inChain: boolean;
}

/** A judged receipt and what its chain needs to know of it. */
export interface JudgedReceipt {
  readonly verification: ReceiptVerification;
  readonly facts: CommandFacts | null;
  /** The envelope's, in base64; undefined when there is no envelope. */
  readonly signature: string | undefined;
}

/** docs/format.md §8: one receipt's four verdicts. Nothing in it is believed before the step that shows it. */
export async function verifyReceipt(input: ReceiptInput, context: JudgeContext): Promise<JudgedReceipt> {
  const findings = new Findings();
  const bytes = readStatement(input.path, 'MALFORMED', findings);
  const envelope = bytes && openEnvelope(bytes, input.path, findings);
  const facts = (envelope && (await verifyStatement(envelope, input, context, findings))) ?? null;
  const verdicts = findings.verdicts();
  if (!input.inChain) {
    findings.add(
      'CHAIN_NOT_ASSESSED',
      input.path,
      'judged outside its chain: verify the task directory to see whether evidence is missing',
    );
    if (verdicts.completeness === 'pass') verdicts.completeness = 'not-assessed';
  }
  return {
    verification: {
      ...verificationOf(input, envelope, facts, context, findings),
      verdicts,
      verified: isVerified(verdicts),
    },
    facts,
    signature: envelope?.signature.toString('base64'),
  };
}

/** From the signature to the facts; undefined where the evidence ends before them. */
async function verifyStatement(
  envelope: Envelope,
  input: ReceiptInput,
  context: JudgeContext,
  findings: Findings,
): Promise<CommandFacts | undefined> {
  const { path } = input;
  const reader = readerFor(envelope.payloadType);
  if (reader === undefined) {
    findings.add(
      'SCHEMA_UNSUPPORTED',
      path,
      `no reader for payload type ${JSON.stringify(envelope.payloadType.slice(0, 120))}`,
    );
    return undefined;
  }
  const statement = await verifySignature(envelope, path, context.keyring, findings);
  const payload = statement && openPayload(envelope, path, findings);
  if (statement === undefined || payload === undefined || !verifyForm(reader, payload, path, findings))
    return undefined;
  const facts = reader.facts(payload, digestOf(envelope.payload));
  verifySigner(statement, facts, context, path, findings);
  verifyRules(facts, path, findings);
  if (input.named) verifyName(facts, path, findings);
  verifyEvidence(facts, input, context, findings);
  reportCompleteness(payload, facts, path, findings);
  verifyPolicy(facts, context, path, findings);
  return facts;
}

/** docs/format.md §3: the payload is of a version that this reader knows, member for member. */
function verifyForm(reader: ReceiptReader, payload: unknown, path: string, findings: Findings): boolean {
  const stated = typeof payload === 'object' && payload !== null && 'schema' in payload ? payload.schema : undefined;
  if (typeof stated === 'string' && stated !== reader.schema) {
    findings.add(
      'SCHEMA_UNSUPPORTED',
      `${path}#/schema`,
      `${JSON.stringify(stated.slice(0, 120))}; known is ${reader.schema}`,
    );
    return false;
  }
  const faults = reader.faults(payload);
  for (const fault of faults) findings.add('MALFORMED', `${path}#${fault.pointer}`, fault.message);
  return faults.length === 0;
}

/** docs/format.md §2, §3. A recoverer signs in place of the executor that ended, at the time of recovery. */
function verifySigner(
  statement: SignedStatement,
  facts: CommandFacts,
  context: JudgeContext,
  path: string,
  findings: Findings,
): void {
  const { recoveredBy } = facts.evidence;
  const stated = recoveredBy
    ? { keyId: recoveredBy.keyId, pointer: '/evidence/recoveredBy/keyId', time: recoveredBy.recoveredAt }
    : { keyId: facts.executor.keyId, pointer: '/executor/keyId', time: facts.time.endedAt ?? facts.time.startedAt };
  verifyKey(statement, stated, path, findings);
  if (statement.signer === undefined) return;
  findings.assessed('integrity', 'signer');
  const reachable = facts.executor.custody === 'reachable-by-command';
  if (reachable) findings.note(`signer: ${context.keyring.label}, reachable by the commands it signs for`);
  else if (context.trustLabel !== undefined) findings.note(`signer: ${context.trustLabel}`);
}

/** docs/format.md §4: the directory of a receipt is named after it. */
function verifyName(facts: CommandFacts, path: string, findings: Findings): void {
  const name = basename(dirname(path));
  if (name !== facts.receiptId)
    findings.add(
      'UNEXPECTED_FILE',
      dirname(path),
      `a directory named ${JSON.stringify(name)} holds receipt ${facts.receiptId}`,
    );
}

/** docs/format.md §4 and §7: what lies beside the receipt is exactly what it says, byte for byte. */
function verifyEvidence(facts: CommandFacts, input: ReceiptInput, context: JudgeContext, findings: Findings): void {
  verifyEquations(facts, input.path, findings);
  if (input.listing === undefined) {
    findings.note('output not checked: its files do not lie beside the receipt');
    return;
  }
  const expiry = { expired: context.now >= input.bodiesExpireAt, checked: context.bodies };
  const present = verifyDirectory(facts, input.listing, expiry, findings);
  verifyOutput(facts, present, input.path, findings);
}

/** The policy that decided allowed the command, and is the one that was asked for. */
function verifyPolicy(facts: CommandFacts, context: JudgeContext, path: string, findings: Findings): void {
  // Unknown where the executor ended before the decision; the missing field is reported as such.
  if (facts.policy === null) return;
  findings.assessed('policy');
  const { outcome, rule, digest } = facts.policy;
  if (outcome === 'DENY')
    findings.add('POLICY_DENIED', `${path}#/policy/outcome`, `denied by rule ${JSON.stringify(rule)}`);
  if (context.policyDigest !== undefined && digest !== context.policyDigest)
    findings.add(
      'POLICY_DIGEST_MISMATCH',
      `${path}#/policy/digest`,
      `decided by ${digest}, asked for is ${context.policyDigest}`,
    );
}

const RECEIPT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function verificationOf(
  input: ReceiptInput,
  envelope: Envelope | undefined,
  facts: CommandFacts | null,
  context: JudgeContext,
  findings: Findings,
): Omit<ReceiptVerification, 'verdicts' | 'verified'> {
  const name = basename(dirname(input.path));
  const trusted = envelope && context.keyring.find(envelope.keyId);
  return {
    path: input.path,
    receiptId: facts?.receiptId ?? (RECEIPT_ID.test(name) ? name : null),
    facts,
    problems: findings.problems(),
    notes: findings.notes(),
    signer: {
      keyId: envelope?.keyId ?? null,
      label: !envelope ? 'unknown' : trusted ? context.keyring.label : 'untrusted key',
    },
  };
}
