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
  /** What a key needs (decisions.md, Keys and limits): one of these, each alone or several together. */
  readonly scopes: readonly (readonly Scope[])[];
  /** Takes credits: refused with 403 where there are none. */
  readonly charged: boolean;
}
