import type { Db } from 'mongodb';
import { type MessageEventName, tlvMembers } from '../../../shared/events/catalogue.ts';
import { type DeliveryDocument, deliveryId, findDeliveries } from '../../../shared/events/webhooks/delivery.ts';
import type { EndpointDocument } from '../../../shared/events/webhooks/endpoint.ts';
import { channelOf } from '../../../shared/messages/channels/channels.ts';
import { itemId, pricedStatuses } from '../../../shared/messages/chat-inbox.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import type { Pricing } from '../../../shared/messages/document/chat-message.ts';
import { type LogRecord, readMessageLog } from '../../../shared/messages/settlement/message-log.ts';
import type { Customer } from '../../../shared/money/conversations/person.ts';
import { type LedgerEntryDocument, readEntries } from '../../../shared/money/ledger/store.ts';
import { isoTimestamp } from '../../../shared/platform/runtime/clock.ts';
import {
  type AccountId,
  eventId,
  idTime,
  liveAccountOf,
  lowestId,
  type MessageId,
} from '../../../shared/platform/runtime/ids.ts';
import type { Shown } from '../../api/endpoint.ts';
import { daysFrom } from './message-list.ts';
import { type Happened, REPEAT_MS } from './shapes.ts';
import { readAccepted } from './status.ts';
import { saidOf, type TextRules, type WithText } from './texts.ts';
import { ALL_VIEWS, type Happening, partRecords, type TextlessMessage, viewOf } from './views.ts';

const WITHOUT_TEXT = Object.fromEntries(ALL_VIEWS.flatMap((view) => view.textFields).map((name) => [name, 0]));

type MessageDelivery = Omit<DeliveryDocument, 'body' | 'event'> & { readonly event: MessageEventName };

export interface WholeMessage {
  readonly message: TextlessMessage;
  readonly said: ReturnType<typeof saidOf>;
  /** Who wrote it or gets it, if more than a number is known. */
  readonly customer: Customer | undefined;
  /** The debit, perhaps for several messages. Undefined if it was free. */
  readonly paid: LedgerEntryDocument | undefined;
  /** May cover several messages too. */
  readonly refunded: LedgerEntryDocument | undefined;
  readonly deliveries: readonly MessageDelivery[];
  /** Others with the same text to the same number within a minute. */
  readonly repeats: readonly MessageId[];
  readonly resends: readonly MessageId[];
  /** The provider's price for an undelivered message; once delivered, the message itself keeps it. */
  readonly pricing: Pricing | undefined;
  /** The SMS that replaced it. */
  readonly instead: WholeMessage | undefined;
  readonly log: readonly LogRecord[];
}

/** Reads all parts by an index: ids of ledger entries and deliveries derive from the message's. */
export async function readWholeMessage(
  db: Db,
  account: AccountId,
  id: MessageId,
  texts: TextRules,
): Promise<WholeMessage | undefined> {
  const isHidden = texts.sent === 'hidden' && texts.received === 'hidden';
  const message = await readAccepted<TextlessMessage, TextlessMessage>(
    db,
    account,
    id,
    async () => {
      const found = await db
        .collection<AnyMessage>('messages')
        .findOne<TextlessMessage>({ _id: id, account }, isHidden ? { projection: WITHOUT_TEXT } : {});
      return found ?? undefined;
    },
    (unstored) => unstored,
  );
  if (message === undefined) return undefined;
  const { debit, refund } = viewOf(message).payment(message);
  const sms =
    'fallback' in message && message.fallback?.ended?.kind === 'sent' ? message.fallback.ended.message : undefined;
  const [entries, deliveries, log, repeats, resends, pricing, instead, customers] = await Promise.all([
    readEntries(
      db,
      account,
      [debit, refund].filter((change) => change !== undefined),
    ),
    readDeliveries(db, message),
    readMessageLog(db, id),
    debit === undefined ? [] : readRepeats(db, message),
    readResends(db, message),
    readEarlyPricing(db, message),
    sms === undefined ? undefined : readWholeMessage(db, account, sms, texts),
    channelOf(message).customersOf(db, account, [message]),
  ]);
  return {
    message,
    pricing,
    customer: customers.get(id),
    said: saidOf(message as WithText, texts), // what was read has its text, unless that is hidden or removed
    paid: entries.find(({ change }) => change === debit),
    refunded: entries.find(({ change }) => change === refund),
    deliveries,
    log,
    ...{ repeats, resends, instead },
  };
}

async function readEarlyPricing(db: Db, message: TextlessMessage): Promise<Pricing | undefined> {
  const { account, state, parts: [part] = [] } = message;
  if (message.channel !== 'chatapp' || state !== 'sent' || part?.key === undefined) return undefined;
  const id = itemId(account, 'sent', viewOf(message).upstreamId(part.key, account));
  return (await pricedStatuses(db, [id])).at(0)?.what.pricing;
}

const LOOKED_MAX = 100;

/** Whether a customer was charged twice for the same. Texts are compared here and shown nowhere. */
async function readRepeats(db: Db, { _id, account, to, channel }: TextlessMessage): Promise<readonly MessageId[]> {
  if (channel !== 'sms') return [];
  const atMs = idTime(_id).getTime();
  const range = { $gte: lowestId('msg', new Date(atMs - REPEAT_MS)), $lt: lowestId('msg', new Date(atMs + REPEAT_MS)) };
  const near = await db
    .collection<AnyMessage>('messages')
    .find({ account, day: { $in: [...daysFrom(range.$gte, range.$lt)] }, to, _id: range })
    .limit(LOOKED_MAX)
    .project<{ readonly _id: MessageId; readonly text?: string }>({ text: 1 })
    .toArray();
  const text = near.find((one) => one._id === _id)?.text;
  return text === undefined ? [] : near.flatMap((one) => (one._id !== _id && one.text === text ? [one._id] : []));
}

async function readResends(db: Db, message: TextlessMessage): Promise<readonly MessageId[]> {
  if (!('resentAs' in message)) return [];
  const { account, resentAs = [] } = message;
  const stored = (_id: MessageId) =>
    db
      .collection<AnyMessage>('messages')
      .findOne<Pick<AnyMessage, '_id'>>({ _id, account }, { projection: { _id: 1 } });
  const found = await Promise.all(
    resentAs.map((id) =>
      readAccepted<Pick<AnyMessage, '_id'>, Pick<AnyMessage, '_id'>>(
        db,
        account,
        id,
        async () => (await stored(id)) ?? undefined,
        (unstored) => unstored,
      ),
    ),
  );
  return found.flatMap((one) => one?._id ?? []);
}

/** At most five events to ten endpoints. */
async function readDeliveries(db: Db, { _id, account, history }: TextlessMessage): Promise<readonly MessageDelivery[]> {
  if (history.length === 0) return [];
  const endpoints = await db
    .collection<EndpointDocument>('endpoints')
    .find({ account: liveAccountOf(account) })
    .project<Pick<EndpointDocument, '_id'>>({ _id: 1 })
    .toArray();
  const ids = history.flatMap(({ state }) =>
    endpoints.map((endpoint) => deliveryId(eventId(_id, state), endpoint._id)),
  );
  // The ids are of events of the message.
  return (await findDeliveries(db, ids, { bodies: false })) as readonly MessageDelivery[];
}

/** Attempts shown per delivery, the newest ones. Replays can add hundreds. */
const ATTEMPTS_SHOWN = 20;

/** Oldest first. Entries of the same millisecond are in the order of cause and effect. */
export function timelineOf(whole: WholeMessage): Shown<typeof Happened>[] {
  const { instead } = whole;
  const ofSms = (instead === undefined ? [] : happeningsOf(instead)).map(({ more, ...one }) => {
    return { ...one, more: { ...more, message_id: instead?.message._id } };
  });
  return [...happeningsOf(whole), ...ofSms]
    .sort((a, b) => a.at.getTime() - b.at.getTime())
    .map(({ at, what, more }) => ({ at: isoTimestamp(at), what, ...more }));
}

function happeningsOf({ message, paid, refunded, deliveries, log }: WholeMessage): Happening[] {
  const happened = beginningOf(message, paid);
  // A carrier's answer precedes the state that it caused.
  for (const record of log) happened.push({ at: record.at, what: record.kind, more: said(record, message) });
  for (const { state, at, error } of message.history) {
    const why = state === 'fallback' ? { error_code: error?.code, error_reason: error?.reason } : {};
    happened.push({ at, what: 'state', more: { status: state, ...why } });
  }
  if ('fallback' in message && message.fallback?.decided !== undefined) {
    const { at, because } = message.fallback.decided;
    happened.push({ at, what: 'fallback', more: { because } });
  }
  for (const delivery of deliveries) {
    for (const { at, result, durationMs } of delivery.attempts.slice(-ATTEMPTS_SHOWN)) {
      const more = {
        event: delivery.event,
        webhook_id: delivery.endpoint,
        result,
        duration_ms: Math.round(durationMs),
      };
      happened.push({ at, what: 'webhook', more });
    }
  }
  if (refunded !== undefined) {
    const more = {
      credits: viewOf(message).payment(message).credits,
      ledger_seq: refunded.seq,
      change_id: refunded.change,
    };
    happened.push({ at: refunded.at, what: 'refunded', more });
  }
  return happened;
}

function beginningOf(message: TextlessMessage, paid: WholeMessage['paid']): Happening[] {
  const view = viewOf(message);
  const happened = [...view.beginning(message)];
  if (paid !== undefined) {
    const { credits } = view.payment(message);
    happened.push({ at: paid.at, what: 'paid', more: { credits, ledger_seq: paid.seq, change_id: paid.change } });
  }
  const { claim, earlier = [], attempts = [] } = message;
  // If a claimed message was put back, that claim is the last of `earlier` until the message is claimed again.
  const isKnown = earlier.some(({ id }) => id === claim?.id) || isPassedOn(message);
  const last = claim === undefined || isKnown ? [] : [claim];
  for (const { at, carrier } of [...attempts, ...earlier, ...last]) {
    happened.push({ at, what: 'taken', more: view.showsCarrier ? { carrier } : {} });
  }
  return happened;
}

/** Whether the last claim's carrier refused the message for another carrier and none has claimed it since. */
function isPassedOn({ claim, attempts = [] }: TextlessMessage): boolean {
  return claim !== undefined && attempts.some(({ carrier, at }) => carrier === claim.carrier && +at === +claim.at);
}

/** What a carrier answered, raw and as understood; or what we decided without its answer. */
function said(record: LogRecord, message: TextlessMessage): NonNullable<Happening['more']> {
  const view = viewOf(message);
  const idOf = (key: string): string => view.upstreamId(key, message.account);
  const carrier = view.showsCarrier ? record.carrier : undefined;
  switch (record.kind) {
    case 'answer':
      return {
        carrier,
        outcome: record.outcome,
        error_code: record.code,
        error_reason: record.reason,
        parts: record.parts === undefined ? undefined : partRecords(record.parts, idOf),
      };
    case 'receipt': {
      const { result, text, tlvs, key, part } = record;
      return {
        carrier,
        result,
        raw: { text, ...tlvMembers(tlvs) },
        carrier_message_id: idOf(key),
        status: part.effect === undefined ? part.state : undefined,
        error_code: part.error,
        error_reason: part.reason,
        done_at: part.doneAt === undefined ? undefined : isoTimestamp(part.doneAt),
      };
    }
    case 'policy':
      // The policy is about an SMS that is neither waiting nor read then.
      return { carrier, policy: record.policy, became: record.became as Shown<typeof Happened>['became'] };
  }
}
