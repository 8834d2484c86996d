/**
 * The path of a message: who may take it. Either a routing group (`transactional`), which every carrier with this group takes from, or
 * a list of carriers in their order with the waiting time after which the next one helps: `@30:airtel>jio>voda`. The list says all that
 * a claim needs to know, so a path stays good when routes change, and the claim's index stays what it was (docs/decisions/0050).
 */
export interface CarrierList {
  readonly waitSeconds: number;
  /** In their order; none twice. Empty: nobody may take it, as no route leads there any more. */
  readonly carriers: readonly string[];
}

/** Carriers that may be asked for one message. After the last one's refusal it is rejected. */
export const MAX_CARRIERS = 3;

export function pathOfList({ waitSeconds, carriers }: CarrierList): string {
  return `@${waitSeconds}:${carriers.join('>')}`;
}

/** Undefined for a routing group. */
export function listOfPath(path: string): CarrierList | undefined {
  const colon = path.indexOf(':');
  if (!path.startsWith('@') || colon < 0) return undefined;
  const carriers = path.slice(colon + 1);
  return { waitSeconds: Number(path.slice(1, colon)), carriers: carriers === '' ? [] : carriers.split('>') };
}
