import type { RequestRecord, ResultRecord } from './fields.ts';

export type Scope = 'send' | 'read' | 'manage';

export interface EndpointRow {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly request: RequestRecord | 'none';
  readonly response: ResultRecord;
  /** Members that decisions.md adds to the response, or allows. */
  readonly extras: readonly string[];
  /** The scopes that a key needs (decisions.md, Keys and limits): all of one of these lists. */
  readonly scopes: readonly (readonly Scope[])[];
  /** Costs credits: an account without any is refused with 403. */
  readonly charged: boolean;
}
