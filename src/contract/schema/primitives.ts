import { type Static, type TEnum, type TSchema, Type } from 'typebox';

/** Lower-case hex of a SHA-256 over a file or body: an identity (settled form: `sha256` fields carry no prefix). */
export const Sha256Hex = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** `sha256:` and lower-case hex: a link to a document (settled form: `digest` fields carry the prefix). */
export const Digest = Type.String({ pattern: '^sha256:[0-9a-f]{64}$' });
/** Kernel 64-bit values and nanoseconds: unsigned decimal strings, since JSON numbers end at 2^53. */
export const Decimal = Type.String({ pattern: '^(0|[1-9][0-9]{0,19})$' });
export const ReceiptId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$',
});
/** RFC 3339, UTC, milliseconds. */
export const Timestamp = Type.String({
  pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$',
});
/** RFC 7638 thumbprint of an Ed25519 public key: 43 base64url characters. */
export const KeyId = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });
/** A count of bytes or events; exact up to 2^53 - 1. */
export const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
export const Text = Type.String();

/** A fact that can be unknown; an unknown one is `null` and has an entry in `evidence.gaps`. */
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

/** An object that refuses members it does not name. */
export const Closed = <T extends Record<string, TSchema>>(properties: T) =>
  Type.Object(properties, { additionalProperties: false });

export const OneOf = <const T extends readonly string[]>(values: T): TEnum<[...T]> => Type.Enum<[...T]>([...values]);

/** A digest that only the holder of the HMAC key can check: nothing short is ever hashed bare. */
export const KeyedDigest = Closed({
  keyId: Type.String({ pattern: '^[A-Za-z0-9_-]{22,43}$' }),
  algorithm: Type.Literal('hmac-sha256'),
  value: Sha256Hex,
});
export type KeyedDigest = Static<typeof KeyedDigest>;
