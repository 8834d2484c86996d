import { MongoError, MongoServerError, MongoServerSelectionError, type ServerDescription } from 'mongodb';
import { StartError } from '../runtime/lifecycle.ts';

/** The product cannot run on the deployment that was found. `final`: waiting does not change that. */
export class Unfit extends Error {
  readonly final: boolean;

  constructor(why: string, final: boolean) {
    super(why);
    this.final = final;
  }
}

/** AuthenticationFailed; AtlasError. */
const SIGN_IN_CODES = new Set<unknown>([18, 8_000]);

/** What a user may not do: Unauthorized; AtlasError. */
export const NOT_ALLOWED = new Set<unknown>([13, 8_000]);

/** Why no connection came about, in one sentence with what to do, and whether waiting is in vain. */
export function connectFailure(
  error: unknown,
  embedded: boolean,
  waitMs: number,
): { readonly why: string; readonly final: boolean } {
  if (error instanceof Unfit) return { why: error.message, final: error.final };
  if (error instanceof MongoServerError && SIGN_IN_CODES.has(error.code)) {
    const why = `The server behind HARKARA_MONGODB_URI refuses its user or password (${error.message}): correct them, or name the database of the user by authSource.`;
    return { why, final: true };
  }
  if (error instanceof MongoServerError && NOT_ALLOWED.has(error.code)) {
    const why = `The server behind HARKARA_MONGODB_URI lets its user read nothing (${error.message}): name a user with a password in it, who has the role readWrite on the database.`;
    return { why, final: true };
  }
  const what = embedded ? 'The embedded store' : 'HARKARA_MONGODB_URI';
  const said = membersOf(error) ?? (error instanceof Error ? error.message : String(error));
  const within = waitMs === 0 ? '' : ` within ${Math.round(waitMs / 1000)} s`;
  return { why: `${what} does not answer as MongoDB${within}: ${said}`, final: false };
}

/** The error of a start's first read, in one sentence: a user without rights, or a proxy, is seen only there. Our own errors stay. */
export function firstReadFailure(error: unknown, embedded: boolean): unknown {
  if (!(error instanceof MongoError)) return error;
  return new StartError(connectFailure(error, embedded, 0).why, { cause: error });
}

/** The state of the replica set in which no primary was found; undefined when it is something else. */
function membersOf(error: unknown): string | undefined {
  const topology = error instanceof MongoServerSelectionError ? error.reason : undefined;
  if (topology === undefined || !topology.type.startsWith('ReplicaSet')) return undefined;
  const members = [...topology.servers.values()];
  if (members.length === 0)
    return `no server in it belongs to the replica set ${topology.setName}: correct replicaSet, or the servers.`;
  const states = members.map((member) => `${member.address} ${stateOf(member)}`).join(', ');
  return `the replica set ${topology.setName ?? ''} has no primary (${states}): a majority of its members must run and reach each other.`;
}

function stateOf({ type, error }: ServerDescription): string {
  if (error !== null) return `cannot be used (${error.message})`;
  return type === 'Unknown' ? 'does not answer' : `is ${type.replace(/^RS/, '').toLowerCase()}`;
}
