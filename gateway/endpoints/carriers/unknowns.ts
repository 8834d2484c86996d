import type { Db } from 'mongodb';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { CLAIM_HOLDER } from '../../../shared/messages/document/message.ts';

/** Beyond this, only "more than" is told: nobody acts differently, and the store counts no further. */
const UNKNOWNS_SHOWN = 1_000;

/** How many submits of a carrier were never answered and wait for an answer, a receipt or the policy. */
export async function countUnknowns(db: Db, carrier: string): Promise<number> {
  return db
    .collection<AnyMessage>('messages')
    .countDocuments({ [CLAIM_HOLDER]: carrier, state: 'submitting', outcome: 'unknown' }, { limit: UNKNOWNS_SHOWN });
}
