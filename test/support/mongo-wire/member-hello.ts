import { type Document, Long, ObjectId } from 'mongodb';

/** A member's role for drivers. `isolated`: cut off from the others, but still believing that it is primary. */
export type Role = 'primary' | 'secondary' | 'isolated' | 'down';

export interface SetView {
  readonly hosts: readonly string[];
  /** Its index among the hosts. */
  readonly me: number;
  readonly role: Role;
  /** The election that made it primary. */
  readonly term: number;
  /** The primary that it knows; -1 for none. */
  readonly primary: number;
  /** Number of changes of its role or view; undefined if it does not report changes by itself. */
  readonly version: number | undefined;
}

const SET_NAME = 'played';
const PROCESS = new ObjectId();

/** Taken from the real server's hello. */
const LIMITS = [
  'maxBsonObjectSize',
  'maxMessageSizeBytes',
  'maxWriteBatchSize',
  'minWireVersion',
  'maxWireVersion',
  'logicalSessionTimeoutMinutes',
  'localTime',
];

export const setUri = (hosts: readonly string[]): string => `mongodb://${hosts.join(',')}/?replicaSet=${SET_NAME}`;

/**
 * A server's hello as a member of the set (specifications, source/server-discovery-and-monitoring). Drivers order
 * primaries by `setVersion` and `electionId`, and one member's hellos by `topologyVersion`.
 */
export function memberHello(server: Document, { hosts, me, role, term, primary, version }: SetView): Document {
  const writable = role === 'primary' || role === 'isolated';
  const known = role === 'isolated' ? me : primary;
  return {
    ...Object.fromEntries(LIMITS.map((name) => [name, server[name]])),
    helloOk: true,
    isWritablePrimary: writable,
    ismaster: writable,
    secondary: !writable,
    setName: SET_NAME,
    setVersion: 1,
    hosts,
    me: hosts[me],
    ...(known === -1 ? {} : { primary: hosts[known] }),
    ...(writable ? { electionId: new ObjectId(`7fffffff${term.toString(16).padStart(16, '0')}`) } : {}),
    ...(version === undefined ? {} : { topologyVersion: { processId: PROCESS, counter: Long.fromNumber(version) } }),
    ok: 1,
  };
}
