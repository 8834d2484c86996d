import type { Contract, Parameter, Reference, Response } from '../../api/contract.ts';
import type { Schema } from '../../http/fields/field.ts';

/** What `$ref`s of the contract lead to. A reference that leads nowhere is an error of the document. */

export function schemaOf({ components }: Contract, given: Schema): Schema {
  return given.$ref === undefined ? given : found(components.schemas[nameOf(given.$ref)], given.$ref);
}

export function parameterOf({ components }: Contract, given: Parameter | Reference): Parameter {
  return '$ref' in given ? found(components.parameters[nameOf(given.$ref)], given.$ref) : given;
}

export function responseOf({ components }: Contract, given: Response | Reference): Response {
  return '$ref' in given ? found(components.responses[nameOf(given.$ref)], given.$ref) : given;
}

/** `SendRequest` of `#/components/schemas/SendRequest`. */
export function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function found<T>(value: T | undefined, ref: string): T {
  if (value === undefined) throw new Error(`the contract has no ${ref}`);
  return value;
}
