import type { Db, Document } from 'mongodb';
import { type CodeName, withConcernError } from './faults.ts';
import { type Command, readAnswer } from './framing.ts';
import type { Handler } from './link.ts';

/** Documents are restored with their BSON types. */
const EXACT = { promoteValues: false, promoteBuffers: false, bsonRegExp: true };

/**
 * The write is done, then rolled back because the primary steps down before a majority has it (manual, "Rollbacks
 * During Replica Set Failover"); the driver gets an error or is cut off. `db` connects to the server without faults.
 */
export const rolledBack =
  (db: Db, told: CodeName | 'cut'): Handler =>
  async (command, link) => {
    const undo = await undoOf(db, command);
    const reply = await link.ask(command.message);
    await undo(readAnswer(reply));
    if (told === 'cut') link.cut();
    else link.tell(withConcernError(command, reply, told));
  };

/** The read comes to a replaced primary and shows `update`, which is then rolled back. `db` as above. */
export const readsUndone =
  (db: Db, collection: string, filter: Document, update: Document): Handler =>
  async (command, link) => {
    const documents = db.collection<Document>(collection);
    const before = await documents.find(filter, EXACT).toArray();
    await documents.updateMany(filter, update);
    const reply = await link.ask(command.message);
    for (const document of before) await documents.replaceOne({ _id: document._id }, document);
    link.tell(reply);
  };

/** Cuts the connection before the command is done. `late` gets its work, to run it long after the driver gave up. */
export const doneLate =
  (db: Db, late: (work: () => Promise<unknown>) => void): Handler =>
  async (command, link) => {
    const { $db: _, lsid: __, ...body } = command.body();
    late(() => db.command(body));
    link.cut();
  };

/** Saves what a command will change. The returned function restores it and is called with the answer. */
async function undoOf(db: Db, command: Command): Promise<(reply: Document) => Promise<void>> {
  const body = command.body();
  const collection = db.collection<Document>(command.collection ?? '');
  if (command.name === 'insert') {
    const ids = body.documents.map(({ _id }: Document) => _id);
    const there = await collection.find({ _id: { $in: ids } }, { projection: { _id: 1 } }).toArray();
    const known = new Set(there.map(({ _id }) => String(_id)));
    return async () =>
      void (await collection.deleteMany({ _id: { $in: ids.filter((id: unknown) => !known.has(String(id))) } }));
  }
  const filters: Document[] = (body.updates ?? body.deletes)?.map(({ q }: Document) => q) ?? [body.query];
  const before = await collection.find({ $or: filters }, EXACT).toArray();
  return async (reply) => {
    const upserted = [
      ...(reply.upserted ?? []).map(({ _id }: Document) => _id),
      ...(reply.lastErrorObject?.upserted === undefined ? [] : [reply.lastErrorObject.upserted]),
    ];
    if (upserted.length > 0) await collection.deleteMany({ _id: { $in: upserted } });
    for (const document of before) await collection.replaceOne({ _id: document._id }, document, { upsert: true });
  };
}
