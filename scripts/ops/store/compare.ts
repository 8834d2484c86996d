import { createHash } from 'node:crypto';
import { BSON, type Db } from 'mongodb';
import { INDEXES } from '../../../shared/mongo/indexes.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { findRaw, idOf, idText, type RawDocument, rawDocuments } from './raw-documents.ts';

export interface Comparison {
  readonly documents: number;
  readonly bytes: number;
  /** SHA-256 of all documents of the target, in the order of their ids. */
  readonly sha256: string;
  /** One sentence for each difference; not more than `PROBLEMS_MAX`. */
  readonly problems: readonly string[];
}

const PROBLEMS_MAX = 20;
/** A store's clock may differ from ours by less than this. */
const CLOCKS_MS = 300_000;

/**
 * Compares a collection of two stores byte by byte, walking both in the order of their ids. A document that one of them has
 * removed because its time was over is no difference.
 */
export async function compareCollection(
  { source, target, clock }: { readonly source: Db; readonly target: Db; readonly clock: Clock },
  collection: string,
  onCompared: (documents: number) => void,
): Promise<Comparison> {
  const hash = createHash('sha256');
  const problems: string[] = [];
  let documents = 0;
  let bytes = 0;
  const theirs = rawDocuments(source, collection);
  const ours = rawDocuments(target, collection);
  let [a, b] = [await nextOf(theirs), await nextOf(ours)];
  while ((a !== undefined || b !== undefined) && problems.length < PROBLEMS_MAX) {
    const [idA, idB] = [a && idOfDifferent(a, b), b && idOfDifferent(b, a)];
    const ahead = { a: a !== undefined, b: b !== undefined };
    if (a !== undefined && b !== undefined && (idA === undefined || sameId(idA, idB))) {
      if (idA !== undefined) problems.push(`${collection} ${idText(idA)} is another document in the target.`);
    } else if (a !== undefined && (await findRaw(target, collection, idA)) === undefined) {
      ahead.b = false;
      if (!isOver(collection, a, clock)) problems.push(`${collection} ${idText(idA)} is missing in the target.`);
    } else if (b !== undefined) {
      ahead.a = false;
      if (!isOver(collection, b, clock)) problems.push(`${collection} ${idText(idB)} is in the target only.`);
    }
    if (ahead.b && b !== undefined) {
      hash.update(b);
      documents += 1;
      bytes += b.length;
      if (documents % 1_000 === 0) onCompared(documents);
    }
    if (ahead.a) a = await nextOf(theirs);
    if (ahead.b) b = await nextOf(ours);
  }
  onCompared(documents);
  return { documents, bytes, sha256: hash.digest('hex'), problems };
}

async function nextOf(documents: AsyncGenerator<RawDocument>): Promise<RawDocument | undefined> {
  const { value, done } = await documents.next();
  return done ? undefined : value;
}

/** The id of a document. Undefined when `other` is equal: most documents are, and need not be parsed. */
function idOfDifferent(document: RawDocument, other: RawDocument | undefined): unknown {
  return other !== undefined && Buffer.compare(document, other) === 0 ? undefined : idOf(document);
}

function sameId(a: unknown, b: unknown): boolean {
  return Buffer.compare(BSON.serialize({ a }), BSON.serialize({ a: b })) === 0;
}

/** Whether the store removes the document by itself, because its time is over. */
function isOver(collection: string, document: RawDocument, clock: Clock): boolean {
  return INDEXES.some(({ collection: of, key, options }) => {
    const [field = ''] = Object.keys(key);
    if (of !== collection || options.expireAfterSeconds === undefined) return false;
    const end: unknown = BSON.deserialize(document)[field];
    return (
      end instanceof Date && end.getTime() + options.expireAfterSeconds * 1_000 < clock.now().getTime() + CLOCKS_MS
    );
  });
}
