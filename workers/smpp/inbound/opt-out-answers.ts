import type { Db } from 'mongodb';
import { findOurs } from '../../../shared/carriers/numbers/store.ts';
import { foldText, type OptOutSign } from '../../../shared/carriers/opt-outs/sign.ts';
import { ANSWERS, type AnswerText, type WordSettings } from '../../../shared/carriers/opt-outs/word-settings.ts';
import type { HistoryEntry } from '../../../shared/messages/document/message.ts';
import { recipientProblem } from '../../../shared/messages/document/recipient.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { type AccountId, type MessageId, optOutAnswerId } from '../../../shared/platform/runtime/ids.ts';
import { type DueAnswer, storeDueAnswers } from './answer-store.ts';
import { limitHelp } from './help-limits.ts';

/** A complete message from a customer, before it is stored. */
export interface Received {
  readonly _id: MessageId;
  readonly account: AccountId;
  /** The customer's number. */
  readonly from: string;
  /** The account's number, in digits. */
  readonly to: string;
  /** The carrier that brought it. */
  readonly carrier: string;
  /** Begins with the time at which the message came. */
  readonly history: readonly HistoryEntry[];
  readonly inbound: { readonly type: string; readonly body: string };
  readonly optOut?: OptOutSign['kind'];
}

/** A customer's message that expresses a wish, with that wish. */
export interface Signed {
  readonly message: Received;
  readonly sign: OptOutSign;
  /** Whether the message has changed the customer's state. */
  readonly changed: boolean;
  readonly settings: Partial<WordSettings>;
  readonly at: Date;
}

interface Answerable extends Signed {
  readonly answer: AnswerText;
}

/**
 * Decides which of these messages get an answer, and stores those answers as due. Returns how many. Call it before the messages
 * are stored, and again with the same messages after a crash: it then stores the same. Each change of state is confirmed once.
 * HELP is answered whether or not the customer has opted out, but not too often. Rejects with the store's error.
 */
export async function decideAnswers(db: Db, signed: readonly Signed[]): Promise<readonly DueAnswer[]> {
  const answerable = signed.flatMap((one): Answerable[] => {
    const answer = answerTo(one);
    return answer === undefined ? [] : [{ ...one, answer }];
  });
  if (answerable.length === 0) return [];
  const ours = await findOurs(
    db,
    answerable.map(({ message }) => message.from),
  );
  const foreign = answerable.filter(({ message }) => !ours.has(message.from));
  const helps = foreign.filter(({ sign }) => sign.kind === 'help');
  const helped = await limitHelp(
    db,
    helps.map(({ message: { _id, account, from, to }, sign: { word }, at }) => ({ _id, account, from, to, word, at })),
  );
  const due = foreign.filter(({ sign, message }) => sign.kind !== 'help' || helped.has(message._id)).map(dueAnswerOf);
  if (due.length === 0) return [];
  await storeDueAnswers(db, due);
  crashPoint('answer:due');
  return due;
}

/** The answer to a message. Short codes, names and echoes of our own text get none, because a machine would answer it again. */
function answerTo({ message, sign, changed, settings }: Signed): AnswerText | undefined {
  if (sign.kind === 'near' || (sign.kind !== 'help' && !changed)) return undefined;
  const answer = settings[ANSWERS[sign.kind]] ?? undefined;
  if (answer === undefined || recipientProblem(message.from) !== undefined) return undefined;
  return foldText(answer.text) === sign.word ? undefined : answer;
}

function dueAnswerOf({ message: { _id, account, from, to, carrier }, at, answer }: Answerable): DueAnswer {
  return { _id: optOutAnswerId(_id), inReplyTo: _id, account, to: from, sender: to, carrier, at, ...answer };
}
