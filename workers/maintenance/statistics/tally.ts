import { CHANNEL_NAMES } from '../../../shared/messages/channels/channels.ts';
import { CHAT_OPERATOR } from '../../../shared/messages/channels/chatapp.ts';
import type { StoredMessage } from '../../../shared/messages/document/message.ts';
import { STATES } from '../../../shared/messages/document/status.ts';
import {
  ALL,
  type Counter,
  type HourDocument,
  type HourName,
  increase,
  mostFrequent,
  SECONDS,
  type ShownState,
} from '../../../shared/messages/statistics-hour.ts';
import type { AccountId } from '../../../shared/platform/runtime/ids.ts';
import type { Counted, Sorted } from './counted.ts';
import { Traffic } from './traffic.ts';

/** Error codes and carriers of one account and hour that are kept: a document stays small whatever carriers answer. */
const KINDS_MAX = 50;
/** Rows of traffic that are kept. Of all accounts together more, because the account tells them apart too. */
const ROWS_MAX = 200;
const ALL_ROWS_MAX = 1_000;

interface Operator {
  readonly name: string;
  readonly channel: StoredMessage['channel'];
  ended: number;
  delivered: number;
  readonly within: number[];
}

/** Counts the messages that one account made in one hour. Those of all accounts are joined. */
export class Tally {
  readonly #counter: Counter;
  readonly #traffic: Traffic;
  readonly #states = { sms: new Map<ShownState, number>(), chatapp: new Map<ShownState, number>() };
  /** By channel and name: a carrier of SMS may be named like the chat-app channel. */
  readonly #operators = new Map<string, Operator>();
  readonly #errors = new Map<string, number>();
  readonly #carrierNames: ReadonlyMap<string, string>;
  #credits = 0;
  #conversations = 0;

  /** `carrierNames`: by id. A receipt says the name; a message that ended without one says the id. */
  constructor(counter: Counter, carrierNames: ReadonlyMap<string, string>) {
    this.#counter = counter;
    this.#carrierNames = carrierNames;
    this.#traffic = new Traffic(counter === ALL ? ALL_ROWS_MAX : ROWS_MAX);
  }

  add({ message, kind, paid }: Sorted): void {
    const { channel, state, errorCode } = message;
    increase(this.#states[channel], STATES[state].shown);
    if (message.direction === 'in') return;
    this.#credits += paid.credits - paid.refunded;
    if (message.opened !== undefined && paid.refunded === 0) this.#conversations++;
    this.#traffic.add(message, kind, paid);
    if (errorCode !== undefined && STATES[state].final) increase(this.#errors, errorCode);
    const name = message.operator ?? (channel === 'chatapp' ? CHAT_OPERATOR : this.#carrierOf(message));
    if (name !== undefined && STATES[state].final) this.#end(message, name);
  }

  /** Adds what was counted of an account to what is counted of all. */
  join(account: AccountId, own: Tally): void {
    for (const channel of CHANNEL_NAMES) {
      for (const [state, count] of own.#states[channel]) increase(this.#states[channel], state, count);
    }
    for (const [code, count] of own.#errors) increase(this.#errors, code, count);
    for (const [key, { name, channel, ended, delivered, within }] of own.#operators) {
      const operator = this.#operators.get(key) ?? newOperator(name, channel);
      this.#operators.set(key, operator);
      operator.ended += ended;
      operator.delivered += delivered;
      within.forEach((count, at) => {
        operator.within[at] = (operator.within[at] ?? 0) + count;
      });
    }
    this.#credits += own.#credits;
    this.#conversations += own.#conversations;
    this.#traffic.join(account, own.#traffic);
  }

  document(hour: HourName, countedAt: Date, expiresAt: Date): HourDocument {
    const { sms, chatapp } = this.#states;
    return {
      _id: `${this.#counter}:${hour}`,
      account: this.#counter,
      countedAt,
      states: { sms: Object.fromEntries(sms), chatapp: Object.fromEntries(chatapp) },
      credits: this.#credits,
      conversations: this.#conversations,
      operators: [...this.#operators.values()]
        .sort((a, b) => b.ended - a.ended || (a.name < b.name ? -1 : 1))
        .slice(0, KINDS_MAX),
      errors: mostFrequent(this.#errors, KINDS_MAX),
      traffic: this.#traffic.rows(),
      expiresAt,
    };
  }

  #carrierOf({ claim }: Counted): string | undefined {
    return claim && (this.#carrierNames.get(claim.carrier) ?? claim.carrier);
  }

  #end({ channel, state, history }: Counted, name: string): void {
    const key = `${channel} ${name}`;
    const operator = this.#operators.get(key) ?? newOperator(name, channel);
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

function newOperator(name: string, channel: Operator['channel']): Operator {
  return { name, channel, ended: 0, delivered: 0, within: SECONDS.map(() => 0).concat(0) };
}
