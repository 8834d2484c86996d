import { countryOf } from '../../shared/carriers/routing/country.ts';
import { CHAT_OPERATOR } from '../../shared/messages/channels/channels.ts';
import { CHANNEL_NAMES, type ChannelName, isCarried } from '../../shared/messages/document/channel.ts';
import { type ChatMessageDocument, type FallbackEnd, isBilled } from '../../shared/messages/document/chat-message.ts';
import type { MessageDocument, StoredMessage } from '../../shared/messages/document/message.ts';
import { STATES } from '../../shared/messages/document/status.ts';
import {
  ALL,
  type Amount,
  amountOf,
  type Counter,
  HOUR_MS,
  type HourDocument,
  type HourName,
  increase,
  mostFrequent,
  noTraffic,
  SECONDS,
  type ShownState,
  type TrafficKind,
  type TrafficRow,
  type TrafficSums,
} from '../../shared/messages/statistics.ts';
import { creditsOf } from '../../shared/money/accounts/prices.ts';
import { isRefundable } from '../../shared/money/ledger/change.ts';
import { defined } from '../../shared/platform/runtime/defined.ts';
import { type AccountId, idTime } from '../../shared/platform/runtime/ids.ts';

export type Counted = Pick<
  StoredMessage,
  | '_id'
  | 'v'
  | 'channel'
  | 'account'
  | 'to'
  | 'state'
  | 'operator'
  | 'errorCode'
  | 'history'
  | 'parts'
  | 'earlier'
  | 'givenUp'
> &
  Partial<Pick<MessageDocument, 'sender' | 'route' | 'routed' | 'segments' | 'template' | 'credits'>> & {
    /** The account's number, of a chat-app message that left. */
    readonly from?: ChatMessageDocument['from'];
    readonly direction?: 'in' | 'out';
    readonly content?: { readonly name?: string };
    readonly claim?: Pick<NonNullable<MessageDocument['claim']>, 'carrier'>;
    readonly conversation?: ChatMessageDocument['conversation'];
    readonly opened?: Pick<NonNullable<ChatMessageDocument['opened']>, 'credits'>;
    readonly fallback?: { readonly ended?: Pick<FallbackEnd, 'kind'> };
  } & Pick<ChatMessageDocument, 'pricing' | 'cost'>;

export const COUNTED_FIELDS = {
  ...{ v: 1, channel: 1, account: 1, state: 1, operator: 1, errorCode: 1, history: 1, direction: 1 },
  ...{ conversation: 1, pricing: 1, cost: 1, 'fallback.ended.kind': 1 },
  ...{ 'claim.carrier': 1, 'opened.credits': 1, 'parts.state': 1, 'earlier.parts.state': 1, 'earlier.carrier': 1 },
  ...{ 'givenUp.carrier': 1, 'givenUp.parts.state': 1 },
  ...{ to: 1, from: 1, sender: 1, route: 1, routed: 1, segments: 1, template: 1, credits: 1, 'content.name': 1 },
} as const;

export interface Paid {
  /** The debit, and how much of it was refunded: all or nothing. */
  readonly credits: number;
  readonly refunded: number;
  /** What the operator earns with the rest. Absent if no value of a credit is known. */
  readonly sale?: Amount;
}

export type CreditValues = ReadonlyMap<AccountId, Amount>;

/** As in `TrafficKind`, with undefined for what is unknown. */
export type Kind = Pick<TrafficKind, 'half' | 'channel'> & {
  readonly [Name in Exclude<keyof TrafficKind, 'half' | 'channel' | 'other'>]?: TrafficKind[Name] | undefined;
};

export interface Sorted {
  readonly message: Counted;
  readonly kind: Kind;
  readonly paid: Paid;
}

/** `names`: of the carriers, by id. `refunded`: conversations that were refunded. */
export function sorted(
  message: Counted,
  names: ReadonlyMap<string, string>,
  refunded: ReadonlySet<string | undefined>,
  values: CreditValues,
): Sorted {
  return { message, kind: kindOf(message, names), paid: paidFor(message, refunded, values) };
}

function kindOf(message: Counted, names: ReadonlyMap<string, string>): Kind {
  const { _id, channel, to, operator, claim, from, sender = from, route, routed, template, content, pricing } = message;
  const half = idTime(_id).getTime() % HOUR_MS < HOUR_MS / 2 ? 0 : 1;
  // A carrier's own name is no network: it is in `carrier`.
  const carrier = isCarried(channel) ? claim?.carrier : undefined;
  const isNetwork = operator !== undefined && (carrier === undefined || operator !== names.get(carrier));
  return {
    ...{ half, channel, sender, route, carrier, template: template ?? content?.name, rule: routed?.route },
    ...{ country: countryOf(to), category: pricing?.category, operator: isNetwork ? operator : undefined },
  };
}

function paidFor(message: Counted, isRefunded: ReadonlySet<string | undefined>, values: CreditValues): Paid {
  const { account, channel, opened, conversation } = message;
  const credits = isCarried(channel) ? creditsOf(message) : (opened?.credits ?? 0);
  const isBack = isCarried(channel) ? isRefundable(message) : isRefunded.has(conversation);
  const value = opened === undefined || isBack ? undefined : values.get(account);
  const sale = value && { currency: value.currency, millionths: value.millionths * credits };
  return { credits, refunded: isBack ? credits : 0, ...(sale && { sale }) };
}

/** Error codes and carriers kept per account and hour: a document stays small whatever carriers answer. */
const KINDS_MAX = 50;
/** Rows of traffic that are kept. All accounts together have more, because their rows are also apart by account. */
const ROWS_MAX = 200;
const ALL_ROWS_MAX = 1_000;

interface Operator {
  readonly name: string;
  readonly channel: StoredMessage['channel'];
  ended: number;
  delivered: number;
  readonly within: number[];
}

/** Counts the messages of one account in one hour. The tallies of all accounts are joined. */
export class Tally {
  readonly #counter: Counter;
  readonly #traffic: Traffic;
  readonly #states = Object.fromEntries(CHANNEL_NAMES.map((name) => [name, new Map<ShownState, number>()])) as Record<
    ChannelName,
    Map<ShownState, number>
  >; // one for each name
  /** By channel and name: a carrier of SMS may be named like the chat-app channel. */
  readonly #operators = new Map<string, Operator>();
  readonly #errors = new Map<string, number>();
  readonly #carrierNames: ReadonlyMap<string, string>;
  #credits = 0;
  #conversations = 0;

  /** `carrierNames`: by id. A receipt has the name; a message that ended without a receipt has the id. */
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
    const name = message.operator ?? (isCarried(channel) ? this.#carrierOf(message) : CHAT_OPERATOR);
    if (name !== undefined && STATES[state].final) this.#end(message, name);
  }

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
    return {
      _id: `${this.#counter}:${hour}`,
      account: this.#counter,
      countedAt,
      states: Object.fromEntries(
        Object.entries(this.#states).map(([name, counts]) => [name, Object.fromEntries(counts)]),
      ),
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

const ERRORS_MAX = 10;

interface Row extends TrafficSums {
  readonly kind: TrafficKind;
}

/** An hour's sent messages by report group. Only the largest kinds are kept apart, so that documents stay small. */
class Traffic {
  readonly #rows = new Map<string, Row>();
  readonly #others = new Map<string, Row>();
  readonly #kept: number;
  readonly #most: number;

  constructor(kept: number) {
    this.#kept = kept;
    this.#most = 10 * kept;
  }

  add(message: Counted, kind: Kind, { credits, refunded, sale }: Paid): void {
    const row = this.#rowOf(kind);
    const { state, errorCode, segments = 1 } = message;
    row.messages++;
    row.segments += segments;
    row.credits += credits - refunded;
    row.refunded += refunded;
    increase(row.states, STATES[state].shown);
    if (errorCode !== undefined && STATES[state].final) increase(row.errors, errorCode);
    if (message.routed !== undefined) addAmounts(row, message, refunded > 0);
    if (sale !== undefined) increase(row.sales, sale.currency, sale.millionths);
    if (message.cost !== undefined) addAmount(row.costs, message.cost);
    else if (isUnpriced(message)) row.unpriced++;
  }

  /** Rows of all accounts are apart by account, and not by sender or template. */
  join(account: AccountId, own: Traffic): void {
    for (const row of own.#rows.values()) {
      merge(this.#rowOf({ ...row.kind, account, sender: undefined, template: undefined }), row);
    }
    for (const row of own.#others.values()) merge(this.#otherOf(row.kind), row);
  }

  rows(): TrafficRow[] {
    const ranked = [...this.#rows.values()].sort((a, b) => b.messages - a.messages);
    for (const row of ranked.splice(this.#kept)) merge(this.#otherOf(row.kind), row);
    return [...ranked, ...this.#others.values()].map(trafficRow);
  }

  #rowOf(kind: Kind): Row {
    const { half, channel, account, sender, template, route, rule, carrier, country, category, operator } = kind;
    // One template string: `join` took a third of all the time spent on a message here.
    const key = `${half} ${channel} ${account} ${route} ${rule} ${carrier} ${country} ${category}\t${sender}\t${template}\t${operator}`;
    const known = this.#rows.get(key);
    if (known !== undefined) return known;
    if (this.#rows.size >= this.#most) return this.#otherOf(kind);
    const row = { ...noTraffic(), kind: defined(kind) };
    this.#rows.set(key, row);
    return row;
  }

  #otherOf({ half, channel }: Pick<TrafficKind, 'half' | 'channel'>): Row {
    const key = `${half} ${channel}`;
    const row = this.#others.get(key) ?? { ...noTraffic(), kind: { half, channel, other: true } };
    this.#others.set(key, row);
    return row;
  }
}

function merge(into: Row, row: Row): void {
  into.messages += row.messages;
  into.segments += row.segments;
  into.credits += row.credits;
  into.refunded += row.refunded;
  into.unpriced += row.unpriced;
  for (const name of ['states', 'errors', 'sales', 'costs'] as const) {
    const sums: Map<string, number> = into[name];
    for (const [key, count] of row[name]) increase(sums, key, count);
  }
}

/**
 * The price is of a message, and counts unless it was refunded. Costs are of a segment: carriers charge each that they
 * took, earlier copies too. A segment whose answer never came counts, as it may have been taken. A copy of one part is
 * a whole text: a carrier over HTTPS, or one that takes message_payload, splits it by itself.
 */
function addAmounts(
  row: Row,
  { routed, claim, parts = [], earlier = [], givenUp, segments = 1 }: Counted,
  isRefunded: boolean,
): void {
  const { price, costs = {} } = routed ?? {};
  if (price !== undefined && !isRefunded) addAmount(row.sales, price);
  const current = claim === undefined ? [] : [{ carrier: claim.carrier, parts }];
  const copies = [...(givenUp === undefined ? [] : [givenUp]), ...earlier, ...current];
  for (const { carrier, parts: taken } of copies) {
    const cost = costs[carrier];
    if (cost === undefined) continue;
    const each = taken.length === 1 ? segments : 1;
    for (const { state } of taken) if (state !== 'refused') addAmount(row.costs, cost, each);
  }
}

/** Whether the provider charges for it, and no price list said how much when it was delivered. */
function isUnpriced({ pricing, state }: Counted): boolean {
  return pricing !== undefined && (state === 'delivered' || state === 'read') && isBilled(pricing);
}

function addAmount(sums: Map<string, number>, text: string, times = 1): void {
  const { currency, millionths } = amountOf(text);
  increase(sums, currency, millionths * times);
}

function trafficRow({ kind, states, segments, credits, refunded, errors, sales, costs, unpriced }: Row): TrafficRow {
  return {
    ...kind,
    states: Object.fromEntries(states),
    ...{ segments, credits, refunded },
    ...(errors.size === 0 ? {} : { errors: mostFrequent(errors, ERRORS_MAX) }),
    ...(sales.size === 0 ? {} : { sales: Object.fromEntries(sales) }),
    ...(costs.size === 0 ? {} : { costs: Object.fromEntries(costs) }),
    ...(unpriced === 0 ? {} : { unpriced }),
  };
}
