import type { Trust } from '../contract/trust.ts';
import type { Keyring } from './keyring.ts';

export interface VerifyOptions {
  readonly trust: Trust;
  /** How the trusted signer is called in notes, for example `local key`; without it `trusted key`. */
  readonly trustLabel?: string;
  /** False: the retained output bodies are not read, and a note says so. Their absence is then no fault. */
  readonly bodies?: boolean;
  /** The policy that has to have decided. */
  readonly policyDigest?: string;
  /** For the expiry of bodies; the present without it. */
  readonly now?: Date;
}

/** What the judges of receipts, heads and chains share. */
export interface JudgeContext {
  readonly keyring: Keyring;
  /** Undefined for a signer who is trusted because the trust file says so, and for no other reason. */
  readonly trustLabel: string | undefined;
  readonly bodies: boolean;
  readonly policyDigest: string | undefined;
  readonly now: number;
}
