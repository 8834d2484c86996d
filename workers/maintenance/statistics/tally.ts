import { CHAT_OPERATOR } from '../../../shared/messages/channels/chatapp.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import type { MessageDocument, StoredMessage } from '../../../shared/messages/document/message.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import {
  type HourDocument,
  type HourName,
  SECONDS,
  type ShownState,
} from '../../../shared/messages/statistics-hour.ts';
import { CREDITS_PER_MESSAGE, isRefundable } from '../../../shared/money/ledger/refund.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';

/** What is read of a message to count it. */
export type Counted = Pick<
  StoredMessage,
  '_id' | 'v' | 'channel' | 'account' | 'state' | 'operator' | 'errorCode' | 'history' | 'parts' | 'earlier'
> & {
  readonly direction?: 'in' | 'out';
  readonly claim?: Pick<NonNullable<MessageDocument['claim']>, 'carrier'>;
  readonly conversation?: ChatMessageDocument['conversation'];
  readonly opened?: Pick<NonNullable<ChatMessageDocument['opened']>, 'credits'>;
};

export const COUNTED_FIELDS = {
  ...{ v: 1, channel: 1, account: 1, state: 1, operator: 1, errorCode: 1, history: 1, direction: 1 },
  conversation: 1,
  ...{ 'claim.carrier': 1, 'opened.credits': 1, 'parts.state': 1, 'earlier.parts.state': 1 },
} as const;

/** Error codes and carriers of one account and hour that are kept: a document stays small whatever carriers answer. */
const KINDS_MAX = 50;

interface Operator {
  readonly name: string;
  readonly channel: StoredMessage['channel'];
  ended: number;
  delivered: number;
  readonly within: number[];
}

/** Counts the messages that one account made in one hour. */
export class Tally {
  readonly #states = { sms: new Map<ShownState, number>(), chatapp: new Map<ShownState, number>() };
  /** By channel and name: a carrier of SMS may be named like the chat-app channel. */
  readonly #operators = new Map<string, Operator>();
  readonly #errors = new Map<string, number>();
  readonly #carrierNames: ReadonlyMap<string, string>;
  #credits = 0;
  #conversations = 0;

  /** `carrierNames`: by id. A receipt says the name; a message that ended without one says the id. */
  constructor(carrierNames: ReadonlyMap<string, string>) {
    this.#carrierNames = carrierNames;
  }

  /** `refunded`: conversations that were given back. */
  add(message: Counted, refunded: ReadonlySet<string | undefined>): void {
    const { channel, state, errorCode } = message;
    increase(this.#states[channel], STATES[state].shown);
    if (message.direction === 'in') return;
    this.#pay(message, refunded);
    if (errorCode !== undefined && STATES[state].final) increase(this.#errors, errorCode);
    const name = message.operator ?? (channel === 'chatapp' ? CHAT_OPERATOR : this.#carrierOf(message));
    if (name !== undefined && STATES[state].final) this.#end(message, name);
  }

  document(account: AccountId, hour: HourName, countedAt: Date, expiresAt: Date): HourDocument {
    const { sms, chatapp } = this.#states;
    return {
      _id: `${account}:${hour}`,
      account,
      countedAt,
      states: { sms: Object.fromEntries(sms), chatapp: Object.fromEntries(chatapp) },
      credits: this.#credits,
      conversations: this.#conversations,
      operators: [...this.#operators.values()]
        .sort((a, b) => b.ended - a.ended || (a.name < b.name ? -1 : 1))
        .slice(0, KINDS_MAX),
      errors: [...this.#errors]
        .map(([code, messages]) => ({ code, messages }))
        .sort((a, b) => b.messages - a.messages || (a.code < b.code ? -1 : 1))
        .slice(0, KINDS_MAX),
      expiresAt,
    };
  }

  #carrierOf({ claim }: Counted): string | undefined {
    return claim && (this.#carrierNames.get(claim.carrier) ?? claim.carrier);
  }

  #pay(message: Counted, refunded: ReadonlySet<string | undefined>): void {
    const { channel, opened, conversation } = message;
    if (channel === 'sms') this.#credits += isRefundable(message) ? 0 : CREDITS_PER_MESSAGE;
    else if (opened !== undefined && !refunded.has(conversation)) {
      this.#credits += opened.credits;
      this.#conversations++;
    }
  }

  #end({ channel, state, history }: Counted, name: string): void {
    const key = `${channel} ${name}`;
    const operator = this.#operators.get(key) ?? {
      ...{ name, channel, ended: 0, delivered: 0 },
      within: SECONDS.map(() => 0).concat(0),
    };
    this.#operators.set(key, operator);
    operator.ended++;
    if (state !== 'delivered' && state !== 'read') return;
    operator.delivered++;
    const sent = history.find((entry) => entry.state === 'sent');
    const delivered = history.find((entry) => entry.state === 'delivered' || entry.state === 'read');
    if (sent === undefined || delivered === undefined) return;
    const seconds = (delivered.at.getTime() - sent.at.getTime()) / 1_000;
    const place = SECONDS.findIndex((limit) => seconds <= limit);
    const at = place === -1 ? SECONDS.length : place;
    operator.within[at] = (operator.within[at] ?? 0) + 1;
  }
}

function increase<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
