import type { Collection, Db } from 'mongodb';
import type { SessionId, UserId } from '../../platform/runtime/ids.ts';
import type { SessionDocument } from './user.ts';

export async function insertSession(db: Db, session: SessionDocument): Promise<void> {
  await sessions(db).insertOne(session);
}

export async function findSession(db: Db, id: SessionId): Promise<SessionDocument | undefined> {
  return (await sessions(db).findOne({ _id: id })) ?? undefined;
}

/** Never brings back a session that has ended meanwhile. */
export async function touchSession(db: Db, id: SessionId, seenAt: Date): Promise<void> {
  await sessions(db).updateOne({ _id: id }, { $max: { seenAt } });
}

/** The user has shown the password again. */
export async function confirmSession(db: Db, id: SessionId, confirmedAt: Date): Promise<void> {
  await sessions(db).updateOne({ _id: id }, { $max: { confirmedAt } });
}

/** A user's sessions, newest first. Some may be over already: see `isOver`. */
export async function listSessions(db: Db, user: UserId): Promise<readonly SessionDocument[]> {
  const found = await sessions(db).find({ user }).toArray();
  return found.sort((a, b) => b.madeAt.getTime() - a.madeAt.getTime());
}

/** False when the user has no such session. */
export async function endSession(db: Db, user: UserId, id: SessionId): Promise<boolean> {
  const { deletedCount } = await sessions(db).deleteOne({ _id: id, user });
  return deletedCount === 1;
}

/** Ends the oldest sessions of a user who has more than so many. */
export async function endOldestSessions(db: Db, user: UserId, most: number): Promise<void> {
  const kept = await sessions(db)
    .find({ user }, { projection: { _id: 1 } })
    .sort({ _id: -1 })
    .limit(most)
    .toArray();
  const oldest = kept.at(most - 1);
  if (oldest !== undefined) await sessions(db).deleteMany({ user, _id: { $lt: oldest._id } });
}

/** Ends the user's sessions, except `kept`. Returns how many. */
export async function endSessions(db: Db, user: UserId, kept?: SessionId): Promise<number> {
  const { deletedCount } = await sessions(db).deleteMany({ user, ...(kept && { _id: { $ne: kept } }) });
  return deletedCount;
}

function sessions(db: Db): Collection<SessionDocument> {
  return db.collection('sessions');
}
