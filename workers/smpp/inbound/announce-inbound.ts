import { digitsOf, entryFor, type NumberDocument, senderOf } from '../../../shared/carriers/numbers/number.ts';
import { createNumbers, homeCountryOf } from '../../../shared/carriers/numbers/store.ts';
import type { Announcer } from '../../../shared/events/webhooks/announce.ts';
import type { InboundSmsDocument } from '../../../shared/messages/document/any-message.ts';
import { keepUnassigned, type UnassignedText } from '../../../shared/messages/inbound.ts';
import { insertNew } from '../../../shared/platform/mongo/insert-new.ts';
import { crashPoint } from '../../../shared/platform/runtime/crash-point.ts';
import { FreshCache } from '../../../shared/platform/runtime/fresh-cache.ts';
import {
  type AccountId,
  type InboundId,
  idDay,
  type MessageId,
  receivedMessageId,
} from '../../../shared/platform/runtime/ids.ts';
import type { CarrierContext } from '../monitoring/carrier-context.ts';
import { InboundOptOuts } from './opt-outs.ts';
import type { WholeText } from './whole-text.ts';

export interface InboundAnnouncerOptions extends Pick<CarrierContext, 'db' | 'clock'> {
  readonly announcer: Announcer;
  /** Carriers whose customers may be due answers (answer-sender.ts). */
  readonly withDueAnswers: Set<string>;
  readonly unassignedDays: number;
}

export interface AnnouncedCounts {
  readonly received: number;
  /** Messages that belong to no account. They are kept for the operator. */
  readonly unassigned: number;
}

const DAY_MS = 86_400_000;
const FRESH_MS = 2_000;
const ACCOUNTS_MAX = 10_000;

/** Turns stored deliver_sm into messages of accounts, and announces them. A repeat writes the same. */
export class InboundAnnouncer {
  readonly #options: InboundAnnouncerOptions;
  readonly #numbers: FreshCache<string, readonly NumberDocument[]>;
  /** The accounts' countries, for numbers without a country. */
  readonly #homes: FreshCache<AccountId, string>;
  readonly #optOuts: InboundOptOuts;

  constructor(options: InboundAnnouncerOptions) {
    const { db, clock } = options;
    this.#options = options;
    const read = (account: AccountId) => homeCountryOf(db, account);
    this.#homes = new FreshCache({ clock, freshMs: FRESH_MS, maxEntries: ACCOUNTS_MAX, read });
    this.#numbers = createNumbers(db, clock);
    this.#optOuts = new InboundOptOuts(options);
  }

  async isOurs(to: string): Promise<boolean> {
    return ((await this.#numbers.get(digitsOf(to)))?.length ?? 0) > 0;
  }

  /** `again`: some of the group may have been handled before. Throws the driver's error; repeat it then. */
  async announce(texts: readonly WholeText[], again: boolean): Promise<AnnouncedCounts> {
    const { db, announcer } = this.#options;
    const numbers = await this.#numbers.getMany(texts.map((text) => digitsOf(head(text).to)));
    const messages: InboundSmsDocument[] = [];
    const unassigned: { readonly id: InboundId; readonly text: UnassignedText }[] = [];
    for (const text of texts) {
      const entry = entryFor(numbers.get(digitsOf(head(text).to)) ?? [], readable(text));
      if (entry === undefined) unassigned.push({ id: head(text)._id, text: unassignedOf(text) });
      else messages.push(messageOf(text, entry, entry.country ?? (await this.#homes.get(entry.account))));
    }
    const stored = again ? await this.#stored(messages) : new Map<MessageId, InboundSmsDocument>();
    // A STOP that is listed already changes nothing. A new one must be stored before its message, or it would be lost.
    const fresh = await this.#optOuts.apply(messages.filter(({ _id }) => !stored.has(_id)));
    const announced = [...stored.values(), ...fresh];
    if (announced.length > 0) {
      await insertNew(db, 'messages', announced);
      crashPoint('inbound:inserted');
      await announcer.announce(announced.flatMap((message) => message.history.map((entry) => ({ message, entry }))));
    }
    await this.#keepUnassigned(unassigned);
    return { received: messages.length, unassigned: unassigned.length };
  }

  async stored(ids: readonly InboundId[]): Promise<ReadonlySet<InboundId>> {
    if (ids.length === 0) return new Set();
    const found = await this.#options.db
      .collection<InboundSmsDocument>('messages')
      .find({ _id: { $in: ids.map(receivedMessageId) } }, { batchSize: ids.length + 1, projection: { _id: 1 } })
      .toArray();
    const stored = new Set(found.map(({ _id }) => _id));
    return new Set(ids.filter((id) => stored.has(receivedMessageId(id))));
  }

  /** The messages that are stored already, unchanged: the number may belong to another account by now. */
  async #stored(messages: readonly InboundSmsDocument[]): Promise<ReadonlyMap<MessageId, InboundSmsDocument>> {
    const ids = messages.map(({ _id }) => _id);
    const stored = await this.#options.db
      .collection<InboundSmsDocument>('messages')
      .find({ _id: { $in: ids } }, { batchSize: ids.length + 1 })
      .toArray();
    return new Map(stored.map((message) => [message._id, message]));
  }

  async #keepUnassigned(
    unassigned: readonly { readonly id: InboundId; readonly text: UnassignedText }[],
  ): Promise<void> {
    const { db, clock, unassignedDays } = this.#options;
    await keepUnassigned(db, unassigned, new Date(clock.now().getTime() + unassignedDays * DAY_MS));
  }
}

function head({ arrivals }: WholeText): WholeText['arrivals'][number]['document'] {
  const [first] = arrivals;
  if (first === undefined) throw new TypeError('a text consists of what came');
  return first.document;
}

function readable({ content }: WholeText): string {
  return content.type === 'text' ? content.body : '';
}

function messageOf(
  text: WholeText,
  { number, account }: NumberDocument,
  country: string | undefined,
): InboundSmsDocument {
  const { from, fromTon, carrier } = head(text);
  const _id = receivedMessageId(text.id);
  return {
    _id,
    channel: 'sms',
    direction: 'in',
    account,
    day: idDay(_id),
    from: senderOf(from, fromTon, country),
    to: number,
    carrier,
    inbound: text.content,
    state: 'received',
    v: 0,
    tries: 0,
    validUntil: text.at,
    history: [{ state: 'received', at: text.at }],
  };
}

function unassignedOf(text: WholeText): UnassignedText {
  const { from, fromTon, to } = head(text);
  const { type, body } = text.content;
  return { from: senderOf(from, fromTon, undefined), to: digitsOf(to), type, body };
}
