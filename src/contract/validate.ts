import type { Static, TSchema } from 'typebox';
// The light half of typebox: `typebox/compile` brings its casts and codecs along, which nothing here uses.
import { Compile, Errors } from 'typebox/schema';

/** One fault of a value: where (JSON pointer) and what. */
export interface FieldError {
  readonly pointer: string;
  readonly message: string;
}

type Node = Readonly<Record<string, unknown>>;
type Members = Readonly<Record<string, unknown>>;

/** The message of a member that the schema does not name; its pointer is the member's own. */
export const UNKNOWN_MEMBER = 'is not a member of this format';

const MOST_ERRORS = 50;
const compiled = new WeakMap<TSchema, (value: unknown) => boolean>();

/** Whether the value has exactly the schema's form. Compiled once per schema. */
export function fits<T extends TSchema>(schema: T, value: unknown): value is Static<T> {
  let check = compiled.get(schema);
  if (check === undefined) {
    const validator = Compile(schema);
    check = (candidate) => validator.Check(candidate);
    compiled.set(schema, check);
  }
  return check(value);
}

/**
 * The faults of a value, one per field, at most 50; none when it fits. Of a union only the variant that the value means is
 * reported: the one whose literal members (`kind`, `mode`, `started`) are the value's own.
 */
export function fieldErrors(schema: TSchema, value: unknown): FieldError[] {
  if (fits(schema, value)) return [];
  const found = faults(schema as Node, value, '');
  if (found.length > 0) return found.slice(0, MOST_ERRORS);
  return leafFaults(schema as Node, value, '');
}

/** The pointer to a member or item of what `base` points to (RFC 6901). */
export function pointerTo(base: string, segment: string | number): string {
  return `${base}/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function faults(schema: Node, value: unknown, pointer: string): FieldError[] {
  const variants = schema.anyOf;
  if (isNodes(variants)) return unionFaults(variants, value, pointer);
  const properties = schema.properties;
  if (isMembers(properties) && isMembers(value)) return objectFaults(schema, properties, value, pointer);
  if (isMembers(schema.items) && Array.isArray(value)) return arrayFaults(schema, schema.items, value, pointer);
  return leafFaults(schema, value, pointer);
}

function objectFaults(schema: Node, properties: Members, value: Members, pointer: string): FieldError[] {
  const found: FieldError[] = [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, property] of Object.entries(properties)) {
    const at = pointerTo(pointer, name);
    if (Object.hasOwn(value, name)) found.push(...faults(property as Node, value[name], at));
    else if (required.includes(name)) found.push({ pointer: at, message: 'is missing' });
  }
  if (schema.additionalProperties === false)
    for (const name of Object.keys(value)
      .filter((key) => !Object.hasOwn(properties, key))
      .slice(0, MOST_ERRORS))
      found.push({ pointer: pointerTo(pointer, name), message: UNKNOWN_MEMBER });
  return found;
}

function arrayFaults(schema: Node, items: Members, value: readonly unknown[], pointer: string): FieldError[] {
  const found: FieldError[] = leafFaults({ ...schema, items: {} }, value, pointer);
  for (let index = 0; index < value.length && found.length < MOST_ERRORS; index++)
    found.push(...faults(items, value[index], pointerTo(pointer, index)));
  return found;
}

function unionFaults(variants: readonly Node[], value: unknown, pointer: string): FieldError[] {
  if (variants.some((variant) => Errors(variant, value)[0])) return [];
  const ofType = variants.filter((variant) => hasTypeOf(variant, value));
  if (ofType.length === 0) return [{ pointer, message: `must be ${alternatives(variants.map(typeName))}` }];
  if (ofType.every((variant) => 'const' in variant))
    return [{ pointer, message: `must be ${alternatives(ofType.map((variant) => JSON.stringify(variant.const)))}` }];
  if (!isMembers(value)) return fewest(ofType.map((variant) => faults(variant, value, pointer)));
  const meant = ofType.filter((variant) => literals(variant).every(([name, literal]) => value[name] === literal));
  if (meant.length === 0) return [discriminatorFault(ofType, value, pointer)];
  return fewest(meant.map((variant) => faults(variant, value, pointer)));
}

/** No variant has the value's literals: the first member that tells the variants apart is at fault. */
function discriminatorFault(variants: readonly Node[], value: Members, pointer: string): FieldError {
  const name = literals(variants[0] ?? {})[0]?.[0] ?? '';
  const values = variants.flatMap((variant) =>
    literals(variant)
      .filter(([other]) => other === name)
      .map(([, literal]) => literal),
  );
  const message = Object.hasOwn(value, name)
    ? `must be ${alternatives(values.map((literal) => JSON.stringify(literal)))}`
    : 'is missing';
  return { pointer: pointerTo(pointer, name), message };
}

/** The members of an object schema that only differ between variants: `schema`, which all share, tells nothing apart. */
function literals(variant: Node): Array<[name: string, literal: unknown]> {
  const properties = variant.properties;
  if (!isMembers(properties)) return [];
  return Object.entries(properties).flatMap(
    ([name, property]): Array<[string, unknown]> =>
      name !== 'schema' && isMembers(property) && 'const' in property ? [[name, property.const]] : [],
  );
}

function leafFaults(schema: Node, value: unknown, pointer: string): FieldError[] {
  const [passes, errors] = Errors(schema, value);
  if (passes) return [];
  if (Array.isArray(schema.enum)) {
    const values = schema.enum.map((item) => JSON.stringify(item));
    return [{ pointer, message: `must be ${alternatives(values)}` }];
  }
  if ('const' in schema) return [{ pointer, message: `must be ${JSON.stringify(schema.const)}` }];
  // A wrong type breaks every other rule as well: the first error says it.
  return errors.slice(0, 1).map((error) => ({ pointer: pointer + error.instancePath, message: error.message }));
}

function fewest(candidates: readonly FieldError[][]): FieldError[] {
  return candidates.reduce((best, next) => (next.length < best.length ? next : best), candidates[0] ?? []);
}

function hasTypeOf(variant: Node, value: unknown): boolean {
  if ('const' in variant) return typeof variant.const === typeof value;
  const type = variant.type;
  if (value === null) return type === 'null';
  if (Array.isArray(value)) return type === 'array';
  if (typeof value === 'number') return type === 'number' || type === 'integer';
  return type === typeof value || (type === undefined && typeof value === 'string' && 'enum' in variant);
}

function typeName(variant: Node): string {
  if ('const' in variant) return JSON.stringify(variant.const);
  if (Array.isArray(variant.enum)) return variant.enum.map((item) => JSON.stringify(item)).join(', ');
  return String(variant.type ?? 'another value');
}

function alternatives(names: readonly string[]): string {
  return [...new Set(names)].join(' or ');
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNodes(value: unknown): value is Node[] {
  return Array.isArray(value);
}
