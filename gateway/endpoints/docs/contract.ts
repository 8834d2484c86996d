import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../../../shared/platform/runtime/lifecycle.ts';
import type { Schema } from '../../http/fields/field.ts';

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
  /** By the event's name: what is posted to the customer. */
  readonly webhooks: Readonly<Record<string, { readonly post: Webhook }>>;
  /** Slugs of the problems that belong to no operation. */
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
  /** The scope that the key needs. Absent where no key is needed. */
  readonly 'x-scope'?: string;
  /** In a session, the password must have been shown within the last minutes. */
  readonly 'x-confirmed'?: true;
  /** Fields that need another scope too. */
  readonly 'x-field-scopes'?: Readonly<Record<string, string>>;
  /** Slugs of the problems that the operation can answer (http/problem.ts). */
  readonly 'x-problems': readonly string[];
}

interface Webhook {
  readonly summary: string;
  readonly requestBody: Response;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
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

/** Reads docs/openapi.json at the start, as text and parsed. Throws a `StartError` when it is missing. */
export function readContract(): { readonly text: string; readonly contract: Contract } {
  // Compiled files are one folder deeper, in dist/.
  const file = ['../../..', '../../../..']
    .map((up) => join(import.meta.dirname, up, 'docs/openapi.json'))
    .find((path) => existsSync(path));
  if (file === undefined)
    throw new StartError(
      'docs/openapi.json is missing, which every gateway serves: copy it from this version of the product.',
    );
  const text = readFileSync(file, 'utf8');
  // The document is our own file, and test/gateway/endpoints/docs proves its shape.
  return { text, contract: JSON.parse(text) as Contract };
}
