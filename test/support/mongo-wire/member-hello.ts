import { type Document, Long, ObjectId } from 'mongodb';

/** What a member of a set looks like to drivers. `isolated`: it is cut off from the others and still believes it is primary. */
export type Role = 'primary' | 'secondary' | 'isolated' | 'down';

export interface SetView {
  readonly hosts: readonly string[];
  /** Its place among the hosts. */
  readonly me: number;
  readonly role: Role;
  /** The election that made it primary, if it is. */
  readonly term: number;
  /** Who is primary, as far as it knows; -1 when nobody is. */
  readonly primary: number;
  /** How often its role or its view of the set has changed; undefined when it is not to tell of changes by itself. */
  readonly version: number | undefined;
}

const SET_NAME = 'played';
const PROCESS = new ObjectId();

/** Fields that are taken from the real server's hello, whichever member it plays. */
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
 * A server's hello as a member of the set gives it (specifications, source/server-discovery-and-monitoring). Drivers order primaries by
 * `setVersion` and `electionId`, and hellos of one member by `topologyVersion`.
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
