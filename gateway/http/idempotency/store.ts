import { type Collection, type Db, MongoBulkWriteError } from 'mongodb';
import { isDuplicateKey } from '../../../shared/platform/mongo/errors.ts';
import { msOf, NOW_MS } from '../../../shared/platform/mongo/store-time.ts';
import { Grouper } from '../../../shared/platform/runtime/grouper.ts';
import type { KeptAnswer, KeyClaimDocument, KeyClaimId } from './key-claim.ts';

/** The most claims in one command. */
const GROUP_MAX = 200;

interface Completion {
  readonly claim: KeyClaimDocument;
  readonly answer: KeptAnswer;
  /** If set, replaces the claim's own time. */
  readonly expiresAt: Date | undefined;
}

/** The claims of Idempotency-Keys. Claims and completions that arrive while others are in flight share a command. */
export class KeyClaims {
  readonly #claims: Collection<KeyClaimDocument>;
  readonly #claiming: Grouper<KeyClaimDocument, boolean>;
  readonly #completing: Grouper<Completion, void>;

  constructor(db: Db) {
    this.#claims = db.collection<KeyClaimDocument>('idempotency');
    this.#claiming = new Grouper({ maxItems: GROUP_MAX, gatherMs: 0, run: (claims) => this.#insert(claims) });
    this.#completing = new Grouper<Completion, void>({
      maxItems: GROUP_MAX,
      gatherMs: 0,
      run: async (done) => {
        await this.#claims.bulkWrite(
          done.map(({ claim: { _id, result }, answer, expiresAt }) => ({
            updateOne: {
              filter: { _id, result },
              update: { $set: expiresAt === undefined ? { answer } : { answer, expiresAt } },
            },
          })),
          { ordered: false },
        );
        return done.map(() => undefined);
      },
    });
  }

  /** False when the key is already claimed. */
  claim(claim: KeyClaimDocument): Promise<boolean> {
    return this.#claiming.add(claim);
  }

  /** Stores the answer of an accepted request until `expiresAt`, or as long as the claim says. Idempotent. */
  complete(claim: KeyClaimDocument, answer: KeptAnswer, expiresAt?: Date): Promise<void> {
    return this.#completing.add({ claim, answer, expiresAt });
  }

  async find(id: KeyClaimId): Promise<KeyClaimDocument | undefined> {
    return (await this.#claims.findOne({ _id: id })) ?? undefined;
  }

  /**
   * Whether the time to pay is over, by the store's clock, which may go back at a failover: see `Action.end`. Ask this
   * *before* looking for the result.
   */
  async isOver({ _id, result }: KeyClaimDocument): Promise<boolean> {
    const over = await this.#claims.findOne(
      { _id, result, $expr: { $gte: [NOW_MS, msOf('$payBy')] } },
      { projection: { _id: 1 } },
    );
    return over !== null;
  }

  /**
   * Removes the claim, so that the key can be claimed again. Leaves a later claim of the same key alone. Idempotent.
   */
  async free({ _id, result }: KeyClaimDocument): Promise<void> {
    await this.#claims.deleteOne({ _id, result });
  }

  async #insert(claims: readonly KeyClaimDocument[]): Promise<readonly boolean[]> {
    try {
      await this.#claims.insertMany(claims, { ordered: false });
      return claims.map(() => true);
    } catch (error) {
      if (!(error instanceof MongoBulkWriteError) || !isDuplicateKey(error)) throw error;
      const errors = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
      const taken = new Set(errors.map(({ index }) => index));
      return claims.map((_, index) => !taken.has(index));
    }
  }
}
