import { pathOfList } from './path.ts';
import type { RouteDocument, WeightedCarrier } from './route.ts';

/**
 * Which carrier of a group is the first for a recipient. The recipient's number decides, so that a thread stays with its carrier: it is
 * hashed to a point between 0 and 1, and the weights divide that line. The others of the group follow in their order, as spares.
 */

/** The path of a route's messages to this recipient. */
export function pathFor(route: RouteDocument, to: string): string {
  return pathAt(route, pointOf(to));
}

/** Every path that a route gives: one for each piece between two borders of any of its groups. */
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
  return [...group.slice(at), ...group.slice(0, at)].map(({ carrier }) => carrier);
}

/** Where each carrier's piece of the line ends. */
function borders(group: readonly WeightedCarrier[]): readonly number[] {
  const total = group.reduce((sum, { weight }) => sum + weight, 0);
  let sum = 0;
  return group.map(({ weight }) => {
    sum += weight;
    return sum / total;
  });
}

/** FNV-1a, with the last step of MurmurHash3, because numbers differ in their last digits only. */
function pointOf(to: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < to.length; i++) hash = Math.imul(hash ^ to.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
