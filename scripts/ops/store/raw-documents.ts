import { createHash, type Hash } from 'node:crypto';
import { type Db, MongoServerError } from 'mongodb';
import { DocumentSequence } from 'mongodb/lib/cmap/commands.js';

/** The bytes of a document as the store has them: no type, no order of fields and no number is changed by reading them. */
type RawDocument = Uint8Array;

/** All documents of a collection in the order of their ids. */
export interface Content {
  readonly documents: number;
  readonly bytes: number;
  readonly sha256: string;
}

const SLICE = 1_000;
/** A slice ends at this many bytes, even with fewer documents. One document may have 16 MB, a command 48 MB. */
const SLICE_BYTES = 8_000_000;

/** Copies a collection. Returns what was read. `onDone` is told how many documents are copied so far. */
export function copyCollection(
  source: Db,
  target: Db,
  collection: string,
  onDone: (documents: number) => void,
): Promise<Content> {
  return walk(source, collection, onDone, (documents) => insertRaw(target, collection, documents));
}

export function readContent(db: Db, collection: string, onDone: (documents: number) => void): Promise<Content> {
  return walk(db, collection, onDone, async () => {});
}

async function walk(
  db: Db,
  collection: string,
  onDone: (documents: number) => void,
  use: (documents: readonly RawDocument[]) => Promise<void>,
): Promise<Content> {
  const hash: Hash = createHash('sha256');
  let [documents, bytes] = [0, 0];
  for await (const slice of slicesOf(db, collection)) {
    await use(slice);
    for (const document of slice) {
      hash.update(document);
      bytes += document.length;
    }
    documents += slice.length;
    onDone(documents);
  }
  return { documents, bytes, sha256: hash.digest('hex') };
}

async function* slicesOf(db: Db, collection: string): AsyncGenerator<readonly RawDocument[]> {
  const cursor = db.collection(collection).find({}, { raw: true, batchSize: SLICE }).sort({ _id: 1 });
  let slice: RawDocument[] = [];
  let bytes = 0;
  for await (const document of cursor as AsyncIterable<unknown>) {
    const raw = document as RawDocument; // `raw` makes the driver return the bytes, which its types do not say
    slice.push(raw);
    bytes += raw.length;
    if (slice.length < SLICE && bytes < SLICE_BYTES) continue;
    yield slice;
    [slice, bytes] = [[], 0];
  }
  if (slice.length > 0) yield slice;
}

async function insertRaw(db: Db, collection: string, documents: readonly RawDocument[]): Promise<void> {
  const sequence = new DocumentSequence('documents');
  for (const document of documents) sequence.push({}, document);
  const writeConcern = { w: 'majority', j: true };
  const answer = await db.command({ insert: collection, documents: sequence, writeConcern });
  const [failed] = answer.writeErrors ?? [];
  if (failed !== undefined) throw new MongoServerError(failed);
}
