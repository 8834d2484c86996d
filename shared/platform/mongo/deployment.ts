import type { Document } from 'mongodb';

/**
 * What a server says of itself and its deployment in answer to `hello`
 * (https://www.mongodb.com/docs/manual/reference/command/hello/), as far as it matters here.
 */
export interface Hello {
  readonly maxWireVersion: number;
  readonly isWritablePrimary?: boolean;
  readonly secondary?: boolean;
  readonly arbiterOnly?: boolean;
  /** Whether the server was started as a member of a replica set that nobody has initiated. */
  readonly isreplicaset?: boolean;
  readonly setName?: string;
  readonly me?: string;
  /** Members with data that may become primary; those that may not; those without data. */
  readonly hosts?: readonly string[];
  readonly passives?: readonly string[];
  readonly arbiters?: readonly string[];
  /** `isdbgrid`: a router of a sharded cluster. */
  readonly msg?: string;
}

/** Of MongoDB 6.0, the oldest whose manual the product was written by. */
const WIRE_VERSION_MIN = 17;

/** Whether the product may run on it. `not_now`: the server may still become what it must be. */
export type Judgement =
  | { readonly kind: 'fit'; readonly warnings: readonly string[] }
  | { readonly kind: 'unfit' | 'not_now'; readonly why: string };

/** One sentence for each fault, with what to do. `version` is what the server calls itself. */
export function judgeDeployment(hello: Hello, version: string | undefined): Judgement {
  if (hello.maxWireVersion < WIRE_VERSION_MIN) {
    const own = version === undefined ? 'an old one' : version;
    return unfit(
      `The server behind HARKARA_MONGODB_URI speaks as MongoDB ${own} does. Harkara needs 6.0 or newer: upgrade it.`,
    );
  }
  if (hello.msg === 'isdbgrid') return { kind: 'fit', warnings: [] };
  if (hello.isreplicaset === true)
    return notNow('The server behind HARKARA_MONGODB_URI waits for its replica set: run rs.initiate() on it.');
  const me = hello.me ?? 'a server';
  if (hello.arbiterOnly === true)
    return unfit(
      `HARKARA_MONGODB_URI leads straight to an arbiter (${me}), which stores nothing: name the members that have data.`,
    );
  if (hello.isWritablePrimary !== true) {
    const set = hello.setName === undefined ? '' : ` of the replica set ${hello.setName}`;
    return notNow(
      `HARKARA_MONGODB_URI leads straight to a member${set} that is not the primary (${me}) and takes no writes: name all members in it, and leave out directConnection.`,
    );
  }
  return { kind: 'fit', warnings: warningsOf(hello) };
}

function warningsOf({ setName, hosts = [], passives = [], arbiters = [] }: Hello): readonly string[] {
  const members = hosts.length + passives.length;
  if (setName === undefined)
    return [
      'HARKARA_MONGODB_URI leads to a standalone server: there is no failover and no second copy of the data. Run a replica set of three.',
    ];
  if (arbiters.length > 0)
    return [
      `The replica set ${setName} has an arbiter: while a member with data is down, no write is on a majority, and nothing is accepted. Replace it by a member with data.`,
    ];
  if (members >= 3) return [];
  const lacks = members === 2 ? 'two members: when one is down nothing is written' : 'one member: there is no failover';
  return [`The replica set ${setName} has ${lacks}. Add members up to three.`];
}

/** Answers of servers are parsed by the driver only. */
export function readHello(answer: Document): Hello {
  return { ...answer, maxWireVersion: Number(answer.maxWireVersion ?? 0) };
}

function unfit(why: string): Judgement {
  return { kind: 'unfit', why };
}

function notNow(why: string): Judgement {
  return { kind: 'not_now', why };
}
