import type { Attempt, MessageDocument, Routed } from '../../messages/document/message.ts';
import { pathOf } from '../../messages/document/routing.ts';
import { defined } from '../../platform/runtime/defined.ts';
import { isTestAccount } from '../../platform/runtime/ids.ts';
import { listOfPath, pathOfList, type RouteDocument, TEST_PATH } from './route.ts';
import type { Routable, RouteTable } from './table.ts';

/**
 * The path of messages that no carrier may take, because the routes have changed since they were accepted. They wait there until
 * they expire, and are refunded.
 */
export const NOWHERE = pathOfList({ waitSeconds: 0, carriers: [] });

/**
 * The path that the current routes give to a message that was paid for earlier. Without routes it stays in its routing group. A
 * carrier that has refused it is not asked again.
 */
export function placementOf(
  table: RouteTable,
  message: Routable & Pick<MessageDocument, 'path'> & { readonly attempts?: readonly Pick<Attempt, 'carrier'>[] },
): Pick<MessageDocument, 'path' | 'routed'> {
  if (isTestAccount(message.account)) return { path: TEST_PATH };
  const tried = (message.attempts ?? []).map(({ carrier }) => carrier);
  const { path, route } = table.routes.length === 0 ? inGroup(message) : placeOf(table.resolve(message));
  const left = path === undefined ? undefined : table.without(path, tried);
  return { path: left ?? NOWHERE, ...(route === undefined ? {} : { routed: routedOf(route) }) };
}

/** The fields of the route that a message stores. */
export function routedOf({ _id, price, costs, receiptFailoverSeconds }: RouteDocument): Routed {
  return { route: _id, ...defined({ price, costs, receiptFailoverSeconds }) };
}

interface Place {
  readonly path?: string;
  readonly route?: RouteDocument;
}

/** Without a path where no carrier will ever take the message. */
function placeOf(resolution: ReturnType<RouteTable['resolve']>): Place {
  return resolution.kind === 'path' ? resolution : {};
}

/** Back to its routing group, if its list of carriers was made by routes that no longer exist. */
function inGroup({ path, route }: Pick<MessageDocument, 'path' | 'route'>): Place {
  return { path: listOfPath(path) === undefined ? path : pathOf(route) };
}
