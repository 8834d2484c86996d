import type { Collection, Db } from 'mongodb';
import type { AnswerText } from '../../../shared/carriers/opt-outs/word-settings.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';

/**
 * An answer that is due to a customer's STOP, START or HELP. It exists until it is a paid message, or until it is certain that it
 * will be none. It is stored before the customer's message, and removed by the holder of the carrier that brought that message.
 */
export interface DueAnswer extends AnswerText, Pick<MessageDocument, 'account' | 'to' | 'sender'> {
  /** The id of the message that it becomes. */
  readonly _id: MessageId;
  readonly inReplyTo: MessageId;
  /** The carrier that brought the customer's message. */
  readonly carrier: string;
  /** When the customer wrote. */
  readonly at: Date;
}

/** Stores answers. One that is stored already is not changed. Throws the driver's error. */
export async function storeDueAnswers(db: Db, answers: readonly DueAnswer[]): Promise<void> {
  await insertNew(db, 'opt_out_answers', answers);
}

/** The due answers of a carrier, oldest first, behind `after`. */
export function findDueAnswers(db: Db, carrier: string, limit: number, after?: MessageId): Promise<DueAnswer[]> {
  return due(db)
    .find({ carrier, ...(after === undefined ? {} : { _id: { $gt: after } }) })
    .sort({ _id: 1 })
    .limit(limit)
    .batchSize(limit + 1)
    .toArray();
}

export async function removeDueAnswer(db: Db, id: MessageId): Promise<void> {
  await due(db).deleteOne({ _id: id });
}

function due(db: Db): Collection<DueAnswer> {
  return db.collection('opt_out_answers');
}
