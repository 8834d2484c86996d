import { createHash } from 'node:crypto';
import type { Collection, Db } from 'mongodb';
import type { OrphanDocument } from '../../../shared/messages/settlement/orphan.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import type { IncomingReceipt } from './receipt-match.ts';

export const ORPHAN_MS = 72 * 3_600_000;

/** The orphaned receipts of one carrier. */
export class OrphanStore {
  readonly #db: Db;
  readonly #orphans: Collection<OrphanDocument>;
  readonly #carrier: string;

  constructor(db: Db, carrier: string) {
    this.#db = db;
    this.#orphans = db.collection('orphans');
    this.#carrier = carrier;
  }

  /** Stores receipts. One that is stored already is not stored twice. Returns their ids in order. */
  async keep(receipts: readonly IncomingReceipt[], now: Date): Promise<string[]> {
    const documents = receipts.map((receipt) => this.#document(receipt, now));
    await insertNew(this.#db, 'orphans', documents);
    return documents.map((document) => document._id);
  }

  /** The orphans that may mean one of these keys. An orphan with letters in its id has a key in small letters among its own. */
  async withKeys(keys: readonly string[]): Promise<IncomingReceipt[]> {
    const wanted = [...new Set(keys.flatMap((key) => [key, key.toLowerCase()]))];
    const found = await this.#orphans.find({ carrier: this.#carrier, keys: { $in: wanted } }).toArray();
    return found.map(incoming);
  }

  /** The orphans that came since `since`, at most `limit`. */
  async since(since: Date, limit: number): Promise<IncomingReceipt[]> {
    const found = await this.#orphans
      .find({ carrier: this.#carrier, at: { $gte: since } })
      .limit(limit)
      .toArray();
    return found.map(incoming);
  }

  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#orphans.deleteMany({ _id: { $in: [...ids] } });
  }

  #document(receipt: IncomingReceipt, now: Date): OrphanDocument {
    const { candidates, from, to, part, excerpt, tlvs, plain } = receipt;
    const keys = candidates.map(({ key }) => key);
    const said = JSON.stringify([keys, from, to, part.state, part.error ?? '', part.doneAt?.getTime() ?? 0]);
    return {
      _id: `${this.#carrier}:${createHash('sha256').update(said).digest('base64url').slice(0, 22)}`,
      carrier: this.#carrier,
      keys,
      forms: candidates.map(({ form }) => form),
      from,
      to,
      part,
      excerpt,
      ...(tlvs === undefined ? {} : { tlvs }),
      ...(plain === undefined ? {} : { plain }),
      at: now,
      expiresAt: new Date(now.getTime() + ORPHAN_MS),
    };
  }
}

function incoming(orphan: OrphanDocument): IncomingReceipt {
  const { _id, keys, forms, from, to, part, excerpt, tlvs, plain, at } = orphan;
  return {
    candidates: keys.map((key, i) => ({ key, form: forms?.[i] ?? '' })),
    from,
    to,
    part,
    excerpt,
    orphan: _id,
    arrivedAt: at,
    ...(tlvs === undefined ? {} : { tlvs }),
    ...(plain === undefined ? {} : { plain }),
  };
}
