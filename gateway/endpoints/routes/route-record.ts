import type { RouteDocument } from '../../../shared/carriers/routing/route.ts';
import { groupsText, matchText } from '../../../shared/carriers/routing/route-text.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';

export function routeRecord({
  _id,
  order,
  match,
  groups,
  waitSeconds,
  price,
  costs,
  createdAt,
}: RouteDocument): object {
  return {
    route_id: _id,
    order,
    matches: match,
    groups,
    wait_seconds: waitSeconds,
    price: price ?? null,
    costs: costs ?? null,
    words: `${matchText(match)} → ${groupsText(groups)}`,
    created_at: isoTimestamp(createdAt),
  };
}
