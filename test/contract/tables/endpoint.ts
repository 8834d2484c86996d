import type { RequestRecord, ResultRecord } from './fields.ts';

export type Scope = 'send' | 'read' | 'manage';

/** A row of "Endpoints". */
export interface EndpointRow {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly request: RequestRecord | 'none';
  readonly response: ResultRecord;
  /** Members that decisions.md adds to the response, or allows. */
  readonly extras: readonly string[];
  /** What a key needs (decisions.md, Keys and limits): all scopes of one of these lists. */
  readonly scopes: readonly (readonly Scope[])[];
  /** It costs credits: an account without any is refused with 403. */
  readonly charged: boolean;
}
