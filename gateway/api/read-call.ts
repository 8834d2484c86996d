import type { IncomingMessage } from 'node:http';
import type { JsonObject, Requester } from '../http/context.ts';
import { FieldProblems, invalidRequest } from '../http/field-problems.ts';
import type { Fields } from '../http/fields/field.ts';
import { readQuery } from '../http/fields/query.ts';
import { type ReadRequest, readRequest } from '../http/fields/request.ts';
import type { Refused } from '../http/idempotency/action.ts';
import type { Call, Endpoint, Gateway } from './endpoint.ts';

/** What was asked: over HTTP, or by `ops` in its own process. */
export interface Asked {
  /** Undefined where the endpoint asks nobody who they are. */
  readonly requester: Requester | undefined;
  readonly params: Readonly<Record<string, string>>;
  /** Absent where the endpoint has no body. */
  readonly json: JsonObject | undefined;
  /** Its address has the query. */
  readonly req: IncomingMessage & { readonly url: string };
  readonly told: Call['told'];
}

/** Reads the query and the body. Their problems refuse the request, unless the endpoint adds some of its own. */
export async function readCall(
  one: Endpoint,
  { clock, config }: Pick<Gateway, 'clock' | 'config'>,
  { requester, params, json = {}, req, told }: Asked,
): Promise<Call | Refused> {
  const context = { account: requester?.account ?? {}, now: clock.now(), config };
  const query = one.query === undefined ? nothing() : readQuery(one.query, req, context, one.queryRules);
  if (query.problems.count > 0) return { kind: 'refused', problem: invalidRequest(query.problems) };
  const read = one.body === undefined ? nothing() : await readRequest(one.body, json, context);
  if (read.problems.count > 0 && !one.ownProblems) return { kind: 'refused', problem: invalidRequest(read.problems) };
  return {
    // Both are there in every endpoint that authenticates, and only operators have no account.
    requester: requester as Call['requester'],
    caller: requester as Call['caller'],
    params,
    query: query.given,
    body: read.given,
    read,
    json,
    req,
    header(name) {
      const value = req.headers[name];
      return value === undefined ? undefined : String(value);
    },
    told,
  };
}

/** Where no field is accepted; the checks have refused a request that has any. */
function nothing(): ReadRequest<Fields> {
  return { given: {}, problems: new FieldProblems() };
}
