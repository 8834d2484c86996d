import type { Schema } from '../http/fields/field.ts';

/** The parts of OpenAPI 3.1 that our contract uses and the page shows. */
export interface Contract {
  readonly info: { readonly title: string; readonly summary: string; readonly description: string };
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
  /** How the clients of customers call it (scripts/clients): `messages.get`. */
  readonly 'x-call'?: string;
  /** The scope that the key needs. Absent where no key is needed. */
  readonly 'x-scope'?: string;
  /** A test key may do it. */
  readonly 'x-test'?: true;
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
  readonly description?: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
  /** What may be done next with it, by operation: `$response.body#/message_id`. */
  readonly links?: Readonly<Record<string, { readonly operationId: string; readonly parameters: object }>>;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Reference {
  readonly $ref: string;
}
