import { BSON, type Db, MongoServerError } from 'mongodb';
import { DocumentSequence } from 'mongodb/lib/cmap/commands.js';
import { DUPLICATE_KEY } from '../../../shared/mongo/errors.ts';

/** The bytes of a document as the store has them: no type, no order of fields and no number is changed by reading them. */
export type RawDocument = Uint8Array;

/** Documents in the order of their ids. */
export interface Slice {
  readonly documents: readonly RawDocument[];
  /** The id of the last document; undefined when there is none. */
  readonly lastId: unknown;
  readonly bytes: number;
}

/** Ids may have any type. The driver's types need one: this one stands for all. */
interface AnyDocument {
  readonly _id: string;
}

const SLICE = 1_000;
/** A slice ends at this many bytes, even with fewer documents. One document may have 16 MB, a command 48 MB. */
const SLICE_BYTES = 8_000_000;

/** The documents after the id `after`; from the first one when it is undefined. */
export async function readSlice(db: Db, collection: string, after: unknown): Promise<Slice> {
  const cursor = db
    .collection<AnyDocument>(collection)
    .find(after === undefined ? {} : { _id: { $gt: after as string } }, { raw: true })
    .sort({ _id: 1 })
    .limit(SLICE);
  const documents: RawDocument[] = [];
  let bytes = 0;
  for await (const document of cursor as AsyncIterable<unknown>) {
    const raw = document as RawDocument; // `raw` makes the driver return the bytes, which its types do not say
    documents.push(raw);
    bytes += raw.length;
    if (bytes >= SLICE_BYTES) break;
  }
  const last = documents.at(-1);
  return { documents, lastId: last && idOf(last), bytes };
}

/** All documents of a collection, in the order of their ids. */
export async function* rawDocuments(db: Db, collection: string): AsyncGenerator<RawDocument> {
  let next = readSlice(db, collection, undefined);
  for (;;) {
    const { documents, lastId } = await next;
    if (documents.length === 0) return;
    next = readSlice(db, collection, lastId);
    next.catch(() => {}); // It is awaited in the next round, unless the reader has stopped.
    yield* documents;
  }
}

/** Inserts documents, their bytes unchanged. Returns those whose ids are in the store already. */
export async function insertRaw(db: Db, collection: string, documents: readonly RawDocument[]): Promise<RawDocument[]> {
  if (documents.length === 0) return [];
  const sequence = new DocumentSequence('documents');
  for (const document of documents) sequence.push({}, document);
  const writeConcern = { w: 'majority', j: true };
  const answer = await db.command({ insert: collection, documents: sequence, ordered: false, writeConcern });
  const errors: readonly { readonly code?: number; readonly index: number }[] = answer.writeErrors ?? [];
  const failed = errors.find(({ code }) => code !== DUPLICATE_KEY);
  if (failed !== undefined) throw new MongoServerError(failed);
  return errors.flatMap(({ index }) => documents[index] ?? []);
}

export async function findRaw(db: Db, collection: string, id: unknown): Promise<RawDocument | undefined> {
  const [found] = await db
    .collection<AnyDocument>(collection)
    .find({ _id: id as string }, { raw: true })
    .toArray();
  return found as unknown as RawDocument | undefined; // as in `readSlice`
}

/** The first id of a collection (1) or the last one (-1); undefined when it is empty. */
export async function endId(db: Db, collection: string, direction: 1 | -1): Promise<unknown> {
  const [found] = await db
    .collection<AnyDocument>(collection)
    .find({}, { raw: true, projection: { _id: 1 } })
    .sort({ _id: direction })
    .limit(1)
    .toArray();
  return found && idOf(found as unknown as RawDocument); // as in `readSlice`
}

/** Double, int, long and Decimal128 (https://bsonspec.org/spec.html). */
const NUMBERS: ReadonlySet<number | undefined> = new Set([0x01, 0x10, 0x12, 0x13]);

/** Whether ids are of one type in the order of a store, in which all types of numbers are one. */
export function sortTogether(a: unknown, b: unknown): boolean {
  const [typeA, typeB] = [a, b].map((id) => BSON.serialize({ id })[4]); // behind the length of the document
  return typeA === typeB || (NUMBERS.has(typeA) && NUMBERS.has(typeB));
}

/** The id of a document, with its exact type. */
export function idOf(document: RawDocument): unknown {
  return BSON.deserialize(document, { promoteValues: false })._id;
}

/** An id for a person. */
export function idText(id: unknown): string {
  return typeof id === 'string' ? id : BSON.EJSON.stringify(id);
}
