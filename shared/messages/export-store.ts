import type { Collection, Db } from 'mongodb';
import { type AccountId, type ExportId, lowestId } from '../platform/runtime/ids.ts';

/** Some thousand lines of a file of messages (gateway/endpoints/exports/run.ts), gzipped. */
export interface PieceDocument {
  readonly _id: `${ExportId}:${string}`;
  readonly bytes: Uint8Array;
  readonly expiresAt: Date;
}

export function pieceId(id: ExportId, number: number): PieceDocument['_id'] {
  return `${id}:${String(number).padStart(6, '0')}`;
}

export function piecesOf(db: Db): Collection<PieceDocument> {
  return db.collection('export_pieces');
}

/** Removes a file, made or being made; its maker removes a piece that is still on its way. False when there is none. */
export async function removeExport(db: Db, account: AccountId, _id: ExportId): Promise<boolean> {
  // After the colon come digits.
  const removePieces = () => piecesOf(db).deleteMany({ _id: { $gte: `${_id}:`, $lt: `${_id}:~` } });
  // Before the document too: a process that is killed in between finds the file again by it.
  await removePieces();
  const { deletedCount } = await exportsOf(db).deleteOne({ _id, account });
  await removePieces();
  return deletedCount === 1;
}

/** All files of an account begun before `before`: a person who is in them is to be erased. */
export async function removeExports(db: Db, account: AccountId, before: Date): Promise<void> {
  const found = exportsOf(db).find({ account, _id: { $lt: lowestId('exp', before) } }, { projection: { _id: 1 } });
  for (const { _id } of await found.toArray()) await removeExport(db, account, _id);
}

function exportsOf(db: Db): Collection<{ readonly _id: ExportId; readonly account: AccountId }> {
  return db.collection('exports');
}
