import type { Db } from 'mongodb';
import { recipientProblem } from '../../../shared/messages/recipient.ts';
import { findOurs } from '../../../shared/numbers/store.ts';
import { foldText, type OptOutSign } from '../../../shared/opt-outs/sign.ts';
import { ANSWERS, type AnswerText, type WordSettings } from '../../../shared/opt-outs/word-settings.ts';
import { crashPoint } from '../../../shared/runtime/crash-point.ts';
import { optOutAnswerId } from '../../../shared/runtime/ids.ts';
import { type OwedAnswer, oweAnswers } from './answer-store.ts';
import { limitHelp } from './help-limits.ts';
import type { Received } from './opt-outs.ts';

/** A customer's message that says something of the customer's wish. */
export interface Signed {
  readonly message: Received;
  readonly sign: OptOutSign;
  /** The customer's state has changed by it. */
  readonly changed: boolean;
  readonly settings: Partial<WordSettings>;
  readonly at: Date;
}

interface Answerable extends Signed {
  readonly answer: AnswerText;
}

/**
 * Stores which of these are to be answered, and how; returns how many are. To be called before the messages are stored, and again
 * with the same ones after a crash: it stores the same. Each change of state is confirmed once; HELP is answered whether the
 * customer has opted out or not, and not too often. Rejects with the store's error.
 */
export async function decideAnswers(db: Db, signed: readonly Signed[]): Promise<readonly OwedAnswer[]> {
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
  const owed = foreign.filter(({ sign, message }) => sign.kind !== 'help' || helped.has(message._id)).map(owedOf);
  if (owed.length === 0) return [];
  await oweAnswers(db, owed);
  crashPoint('answer:owed');
  return owed;
}

/** No answer goes to short codes and names, nor to an echo of our own text: a machine would answer that. */
function answerTo({ message, sign, changed, settings }: Signed): AnswerText | undefined {
  if (sign.kind === 'near' || (sign.kind !== 'help' && !changed)) return undefined;
  const answer = settings[ANSWERS[sign.kind]] ?? undefined;
  if (answer === undefined || recipientProblem(message.from) !== undefined) return undefined;
  return foldText(answer.text) === sign.word ? undefined : answer;
}

function owedOf({ message: { _id, account, from, to, carrier }, at, answer }: Answerable): OwedAnswer {
  return { _id: optOutAnswerId(_id), inReplyTo: _id, account, to: from, sender: to, carrier, at, ...answer };
}
