/**
 * The path of a message says which carriers may take it. It is either a routing group (`transactional`), from which every carrier
 * with this group takes, or a list of carriers in their order: `@30:airtel>jio>voda`. The number is the waiting time in seconds
 * after which the next carrier helps. The list has everything that a claim needs. So a path stays valid when routes change, and
 * the index of the claim did not have to change (docs/decisions/0011).
 */
export interface CarrierList {
  readonly waitSeconds: number;
  /**
   * In the order in which they are asked, none twice. Empty: no carrier may take the message, because no route leads to one any
   * more.
   */
  readonly carriers: readonly string[];
}

/** The path of test messages. No carrier has such a name: the maintenance decides what becomes of them (workers/maintenance/test-outcome.ts). */
export const TEST_PATH = pathOfList({ waitSeconds: 0, carriers: ['@test'] });

/** How many carriers may be asked for one message. When the last one refuses it, it is rejected. */
export const MAX_CARRIERS = 3;

export function pathOfList({ waitSeconds, carriers }: CarrierList): string {
  return `@${waitSeconds}:${carriers.join('>')}`;
}

/** Reads a path. Undefined for a routing group. */
export function listOfPath(path: string): CarrierList | undefined {
  const colon = path.indexOf(':');
  if (!path.startsWith('@') || colon < 0) return undefined;
  const carriers = path.slice(colon + 1);
  return { waitSeconds: Number(path.slice(1, colon)), carriers: carriers === '' ? [] : carriers.split('>') };
}
