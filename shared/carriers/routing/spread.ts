import { pathOfList } from './path.ts';
import type { RouteDocument, WeightedCarrier } from './route.ts';

/**
 * Chooses which carrier of a group is first for a recipient. It depends only on the recipient's number, so that all messages of a
 * conversation use the same carrier. The number is hashed to a point between 0 and 1, and the weights divide that line. The other
 * carriers of the group follow in a circle, as spares; those of weight 0 are the last.
 */

/** The path of messages of this route to this recipient. */
export function pathFor(route: RouteDocument, to: string): string {
  return pathAt(route, pointOf(to));
}

/** Every path that a route can give. There is one for each piece of the line between two borders of any group. */
export function pathsOf(route: RouteDocument): readonly string[] {
  const starts = new Set([0, ...route.groups.flatMap(borders)]);
  return [...new Set([...starts].filter((start) => start < 1).map((start) => pathAt(route, start)))];
}

function pathAt({ groups, waitSeconds }: RouteDocument, point: number): string {
  const carriers = new Set(groups.flatMap((group) => inOrder(group, point)));
  return pathOfList({ waitSeconds, carriers: [...carriers] });
}

function inOrder(group: readonly WeightedCarrier[], point: number): readonly string[] {
  const first = borders(group).findIndex((border) => point < border);
  const at = Math.max(first, 0);
  const circle = [...group.slice(at), ...group.slice(0, at)];
  return circle.sort((a, b) => Number(a.weight === 0) - Number(b.weight === 0)).map(({ carrier }) => carrier);
}

/** The point of the line at which each carrier's piece ends. */
function borders(group: readonly WeightedCarrier[]): readonly number[] {
  const total = group.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  return group.map(({ weight }) => {
    sum += weight;
    return sum / total;
  });
}

/** FNV-1a, with the last step of MurmurHash3, because numbers often differ in their last digits only. */
function pointOf(to: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < to.length; i++) hash = Math.imul(hash ^ to.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
