import type { MessageDocument, Routed } from '../messages/message.ts';
import { pathOf } from '../messages/routing.ts';
import { listOfPath, pathOfList } from './path.ts';
import type { RouteDocument } from './route.ts';
import type { Routable, RouteTable } from './table.ts';

/** The path of messages that nobody may take: the routes changed after they were accepted. They expire there and are refunded. */
export const NOWHERE = pathOfList({ waitSeconds: 0, carriers: [] });

/**
 * Where a message that was paid for earlier lies by the routes of now. Without routes it stays in its routing group. No carrier that
 * has refused it is asked again.
 */
export function placementOf(
  table: RouteTable,
  message: Routable & Pick<MessageDocument, 'path' | 'attempts'>,
): Pick<MessageDocument, 'path' | 'routed'> {
  const tried = (message.attempts ?? []).map(({ carrier }) => carrier);
  const { path, route } = table.routes.length === 0 ? inGroup(message) : whole(table.resolve(message));
  const left = path === undefined ? undefined : table.without(path, tried);
  return { path: left ?? NOWHERE, ...(route === undefined ? {} : { routed: routedOf(route) }) };
}

/** What a message keeps of its route. */
export function routedOf({ _id, price, costs }: RouteDocument): Routed {
  return { route: _id, ...(price === undefined ? {} : { price }), ...(costs === undefined ? {} : { costs }) };
}

interface Place {
  readonly path?: string;
  readonly route?: RouteDocument;
}

function whole(resolution: ReturnType<RouteTable['resolve']>): Place {
  return resolution.kind === 'path' ? resolution : {};
}

/** A list is what routes made of it that are gone. */
function inGroup({ path, route }: Pick<MessageDocument, 'path' | 'route'>): Place {
  return { path: listOfPath(path) === undefined ? path : pathOf(route) };
}
