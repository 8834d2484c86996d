import type { Collection, Db } from 'mongodb';
import type { Clock } from '../../platform/runtime/clock.ts';
import type { RouteDocument } from './route.ts';

/** Stores a route. All processes follow it within two seconds. */
export async function addRoute(db: Db, clock: Clock, route: Omit<RouteDocument, 'createdAt'>): Promise<RouteDocument> {
  const document = { ...route, createdAt: clock.now() };
  await routes(db).insertOne(document);
  return document;
}

/** Replaces a route. False when there is none with this name. */
export async function replaceRoute(db: Db, route: RouteDocument): Promise<boolean> {
  const { matchedCount } = await routes(db).replaceOne({ _id: route._id }, route);
  return matchedCount === 1;
}

/** Removes a route. False when there is none with this name. */
export async function removeRoute(db: Db, name: string): Promise<boolean> {
  const { deletedCount } = await routes(db).deleteOne({ _id: name });
  return deletedCount === 1;
}

/** All routes by name. There are at most hundreds, and every process keeps them in memory. */
export async function listRoutes(db: Db): Promise<readonly RouteDocument[]> {
  return routes(db).find({}, { batchSize: 1_000 }).sort({ _id: 1 }).toArray();
}

function routes(db: Db): Collection<RouteDocument> {
  return db.collection('routes');
}
