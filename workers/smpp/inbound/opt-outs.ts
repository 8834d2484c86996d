import type { Db } from 'mongodb';
import { WHOLE_ACCOUNT } from '../../../shared/carriers/opt-outs/opt-out.ts';
import { type OptOutSign, optOutOf } from '../../../shared/carriers/opt-outs/sign.ts';
import { changeOptOuts, findChangedBy, type OptOutChange } from '../../../shared/carriers/opt-outs/store.ts';
import {
  readWordSettings,
  settingsFor,
  type WordSettings,
  type WordSettingsKey,
  wordSettingsKey,
  wordsFor,
} from '../../../shared/carriers/opt-outs/word-settings.ts';
import type { HistoryEntry } from '../../../shared/messages/document/message.ts';
import type { Clock } from '../../../shared/platform/runtime/clock.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import type { MessageId } from '../../../shared/platform/runtime/ids.ts';
import { decideAnswers, type Received, type Signed } from './opt-out-answers.ts';

/** A change of the settings is used after this time at the latest. */
const FRESH_MS = 2_000;
const REMEMBERED = 10_000;
const NUMBER = /^\d{3,15}$/;

interface InboundOptOutsOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Carriers whose customers may be due answers (answer-sender.ts). */
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
   * Call it for messages that are about to be stored in `messages`, while their raw form is still kept. Call it again with the
   * same messages if a process died before the raw ones were removed. It stores the opt-outs and the answers that are due, and
   * returns the messages as they must be stored: with `optOut`, and with a history entry for the event if the customer's state
   * has changed. Repeating it gives the same result.
   *
   * So the order is: raw message, opt-out, answer that is due to the customer, message with its history, deliveries of its
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

/** An entry one millisecond after `received`, the same at every repetition. */
function entryOf(message: Received, kind: OptOutSign['kind']): HistoryEntry {
  return { state: kind === 'out' ? 'opted_out' : 'opted_in', at: new Date(timeOf(message).getTime() + 1) };
}
