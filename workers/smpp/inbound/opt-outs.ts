import type { Collection, Db } from 'mongodb';
import { findOurs } from '../../../shared/carriers/numbers/store.ts';
import {
  changeOptOuts,
  findChangedBy,
  type OptOutChange,
  WHOLE_ACCOUNT,
} from '../../../shared/carriers/opt-outs/store.ts';
import {
  ANSWERS,
  type AnswerText,
  foldText,
  type OptOutSign,
  optOutOf,
  readWordSettings,
  settingsFor,
  type WordSettings,
  type WordSettingsKey,
  wordSettingsKey,
  wordsFor,
} from '../../../shared/carriers/opt-outs/words.ts';
import type { InboundSmsDocument } from '../../../shared/messages/document/any-message.ts';
import type { HistoryEntry } from '../../../shared/messages/document/message.ts';
import { recipientProblem } from '../../../shared/messages/document/recipient.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { updateEach } from '../../../shared/platform/mongo/update-each.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import { type AccountId, type MessageId, optOutAnswerId } from '../../../shared/platform/runtime/ids.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import { type DueAnswer, storeDueAnswers } from './answer-sender.ts';

const FRESH_MS = 2_000;
const REMEMBERED = 10_000;
const NUMBER = /^\d{3,15}$/;

interface InboundOptOutsOptions extends Pick<CarrierContext, 'db' | 'clock'> {
  readonly withDueAnswers: Set<string>;
}

/** Acts on customers' STOP, START and HELP. One per process. */
export class InboundOptOuts {
  readonly #db: Db;
  readonly #withDueAnswers: Set<string>;
  readonly #settings: FreshCache<WordSettingsKey, WordSettings>;

  constructor({ db, clock, withDueAnswers }: InboundOptOutsOptions) {
    this.#db = db;
    this.#withDueAnswers = withDueAnswers;
    const readMany = (keys: readonly WordSettingsKey[]) => readWordSettings(db, keys);
    this.#settings = new FreshCache({ clock, freshMs: FRESH_MS, maxEntries: REMEMBERED, readMany });
  }

  /**
   * Call it for messages before they are stored in `messages`, while their raw form is still kept, and again with the
   * same messages after a crash. It stores the opt-outs and the due answers, and returns the messages as they must be
   * stored: with `optOut`, and with a history entry for the event if the customer's state has changed. A repeat gives
   * the same.
   *
   * So the order is: raw message, opt-out, due answer to the customer, message with its history, deliveries of its
   * events, answer to the carrier. Rejects with the store's error.
   */
  async apply<M extends Received>(messages: readonly M[]): Promise<readonly M[]> {
    // A sender with a name cannot get messages, so it needs no opt-out.
    const texts = messages.filter(({ from, inbound }) => inbound.type === 'text' && NUMBER.test(from));
    const settings = await this.#settings.getMany(
      texts.flatMap(({ account, to }) => [wordSettingsKey(account, WHOLE_ACCOUNT), wordSettingsKey(account, to)]),
    );
    const signs = new Map<MessageId, OptOutSign>();
    for (const { _id, account, from, to, inbound } of texts) {
      const sign = optOutOf(inbound.body, wordsFor(settingsFor(settings, account, to), from));
      if (sign !== undefined) signs.set(_id, sign);
    }
    const changed = await this.#change(texts, signs);
    const signed = texts.flatMap((message): Signed[] => {
      const { _id, account, to } = message;
      const sign = signs.get(_id);
      if (sign === undefined) return [];
      const own = settingsFor(settings, account, to);
      return [{ message, sign, changed: changed.has(_id), settings: own, at: timeOf(message) }];
    });
    for (const { carrier } of await decideAnswers(this.#db, signed)) this.#withDueAnswers.add(carrier);
    return messages.map((message) => {
      const sign = signs.get(message._id);
      if (sign === undefined) return message;
      const entries = changed.has(message._id) ? [entryOf(message, sign.kind)] : [];
      return { ...message, optOut: sign.kind, history: [...message.history, ...entries] };
    });
  }

  async #change(
    texts: readonly Received[],
    signs: ReadonlyMap<MessageId, OptOutSign>,
  ): Promise<ReadonlySet<MessageId>> {
    const changes = texts.flatMap((message): OptOutChange[] => {
      const { kind, word } = signs.get(message._id) ?? {};
      if (kind !== 'out' && kind !== 'in') return [];
      const { _id, account, from, to } = message;
      const what = { kind, word: word ?? '', source: 'inbound', message: _id } as const;
      return [{ account, customer: from, scope: to, at: timeOf(message), ...what }];
    });
    if (changes.length === 0) return new Set();
    await changeOptOuts(this.#db, changes);
    crashPoint('inbound:opted_out');
    return findChangedBy(this.#db, changes);
  }
}

function timeOf({ history, _id }: Received): Date {
  const [received] = history;
  if (received === undefined) throw new Error(`${_id} has no time at which it was received`);
  return received.at;
}

/** One millisecond after `received`, the same at every repetition. */
function entryOf(message: Received, kind: OptOutSign['kind']): HistoryEntry {
  return { state: kind === 'out' ? 'opted_out' : 'opted_in', at: new Date(timeOf(message).getTime() + 1) };
}

/** A customer's complete message before it is stored. Its history begins with the time at which it came. */
export type Received = Pick<
  InboundSmsDocument,
  '_id' | 'account' | 'from' | 'to' | 'carrier' | 'history' | 'optOut'
> & {
  readonly inbound: Pick<InboundSmsDocument['inbound'], 'type' | 'body'>;
};

interface Signed {
  readonly message: Received;
  readonly sign: OptOutSign;
  readonly changed: boolean;
  readonly settings: Partial<WordSettings>;
  readonly at: Date;
}

interface Answerable extends Signed {
  readonly answer: AnswerText;
}

/**
 * Decides which of these messages get an answer, stores the answers as due, and returns them. Call it before the
 * messages are stored, and again after a crash: it then stores the same. Each change of state is confirmed once. HELP
 * is answered whether or not the customer has opted out, but not too often. Rejects with the store's error.
 */
async function decideAnswers(db: Db, signed: readonly Signed[]): Promise<readonly DueAnswer[]> {
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

/** No answer to short codes, names and echoes of our own text: a machine would answer it again. */
function answerTo({ message, sign, changed, settings }: Signed): AnswerText | undefined {
  if (sign.kind === 'near' || (sign.kind !== 'help' && !changed)) return undefined;
  const answer = settings[ANSWERS[sign.kind]] ?? undefined;
  if (answer === undefined || recipientProblem(message.from) !== undefined) return undefined;
  return foldText(answer.text) === sign.word ? undefined : answer;
}

function dueAnswerOf({ message: { _id, account, from, to, carrier }, at, answer }: Answerable): DueAnswer {
  return { _id: optOutAnswerId(_id), inReplyTo: _id, account, to: from, sender: to, carrier, at, ...answer };
}

export interface HelpRequest {
  readonly _id: MessageId;
  readonly account: AccountId;
  readonly from: string;
  readonly to: string;
  readonly word: string;
  readonly at: Date;
}

/** At most one answer in five minutes and five a day to one word of one customer: machines might answer each other. */
const PAUSE_MS = 5 * 60_000;
const DAY_MS = 86_400_000;
const DAILY_MAX = 5;

/** The newest answers to one word of one customer at one number, oldest first. */
interface HelpDocument {
  readonly _id: string;
  readonly answered: readonly { readonly message: MessageId; readonly at: Date }[];
  readonly expiresAt: Date;
}

/** Returns the requests to answer; the same when repeated. One atomic update of one document decides each. */
export async function limitHelp(db: Db, requests: readonly HelpRequest[]): Promise<ReadonlySet<MessageId>> {
  if (requests.length === 0) return new Set();
  const ids = [...new Set(requests.map(keyOf))];
  const expiresAt = new Date(Math.max(...requests.map(({ at }) => at.getTime())) + DAY_MS);
  await insertNew(
    db,
    'opt_out_helps',
    ids.map((_id) => ({ _id, answered: [], expiresAt })),
  );
  await updateEach(db, 'opt_out_helps', requests.map(updateOf));
  const collection: Collection<HelpDocument> = db.collection('opt_out_helps');
  const found = await collection.find({ _id: { $in: ids } }).toArray();
  return new Set(found.flatMap(({ answered }) => answered.map(({ message }) => message)));
}

function keyOf({ account, from, to, word }: HelpRequest): string {
  return `${account}:${from}:${to}:${word}`;
}

function updateOf(request: HelpRequest) {
  const { _id: message, at } = request;
  const before = (ms: number): Date => new Date(at.getTime() - ms);
  return {
    filter: {
      _id: keyOf(request),
      'answered.message': { $ne: message },
      $nor: [
        { 'answered.at': { $gt: before(PAUSE_MS) } },
        // The list is full, and its oldest answer is less than a day old.
        { [`answered.${DAILY_MAX - 1}`]: { $exists: true }, 'answered.0.at': { $gt: before(DAY_MS) } },
      ],
    },
    update: {
      $push: { answered: { $each: [{ message, at }], $slice: -DAILY_MAX } },
      $max: { expiresAt: new Date(at.getTime() + DAY_MS) },
    },
  };
}
