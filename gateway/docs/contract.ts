import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../shared/runtime/lifecycle.ts';
import type { Schema } from '../fields/field.ts';

/** The parts of OpenAPI 3.1 that our contract uses and the page shows. */
export interface Contract {
  readonly info: { readonly title: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
  /** Slugs of problems that belong to no operation. */
  readonly 'x-problems': readonly string[];
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Response;
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** What the key must be allowed to do; absent where no key is asked for. */
  readonly 'x-scope'?: string;
  /** Slugs of the catalogue (http/problem.ts) that it may answer. */
  readonly 'x-problems': readonly string[];
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Response {
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Reference {
  readonly $ref: string;
}

/** docs/openapi.json, as text and as what it says. Read at the start; throws a `StartError` when it is not there. */
export function readContract(): { readonly text: string; readonly contract: Contract } {
  // Compiled files lie one folder deeper, in dist/.
  const file = ['../..', '../../..']
    .map((up) => join(import.meta.dirname, up, 'docs/openapi.json'))
    .find((path) => existsSync(path));
  if (file === undefined) throw new StartError('docs/openapi.json is missing: it belongs to the product.');
  const text = readFileSync(file, 'utf8');
  // A file of ours; test/gateway/docs proves its shape.
  return { text, contract: JSON.parse(text) as Contract };
}
