import type { Db } from 'mongodb';
import type { ChatMessageDocument } from '../../../../shared/messages/document/chat-message.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { giveBackRefused, wasRefused } from '../../../../shared/money/conversations/charge.ts';
import { createChatAccepter } from '../../../../shared/money/conversations/open.ts';
import type { LedgerEntryDocument } from '../../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import type { AccountId, MessageId } from '../../../../shared/platform/runtime/ids.ts';
import { checkDeparture } from '../../../../workers/chatapp/depart.ts';
import { CHAT_PRICES, chatMessagesOf, makeTemplateDraft } from '../../../support/chat.ts';
import { Died, dyingDb } from '../../../support/dying-db.ts';
import { type Actor, everyOrder, someOrders } from '../../../support/every-order.ts';
import { makeAccount } from '../../../support/make.ts';
import { Prng } from '../../../support/prng.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { useStore } from '../../../support/store.ts';

const CREDITS = 100;
const PRICE = 2;
const DECIDING = ['messages', 'conversations'];
/** Random orders, where all would be too many. */
const ORDERS = 150;
const SEED = 23;
const SENT = { state: 'sent', parts: [{ key: 'k', state: 'accepted' }] } as const;
const FAILED = { state: 'failed', parts: [{ key: 'k', state: 'refused' }] } as const;

type Ids = readonly [MessageId, MessageId, MessageId];

describe('conversations/charge-store: who stands for a conversation', function () {
  this.timeout(300_000);
  const store = useStore();

  const accepterOn = (db: Db) => createChatAccepter({ db, clock: systemClock, log: silentLog, prices: CHAT_PRICES });
  const messagesOn = (db: Db) => db.collection<ChatMessageDocument>('messages');
  const read = async (db: Db, _id: MessageId): Promise<ChatMessageDocument> => {
    const found = await messagesOn(db).findOne({ _id });
    if (found === null) throw new Error('it is stored');
    return found;
  };
  /** Stores a sent opener and two waiting included messages. */
  async function begin(): Promise<{ readonly account: AccountId; readonly ids: Ids }> {
    const account = await makeAccount(store.db, CREDITS);
    for (let i = 0; i < 3; i++) await accepterOn(store.db).accept(account, makeTemplateDraft());
    const [opener, one, two] = (await chatMessagesOf(store.db, account)).map(({ _id }) => _id);
    if (opener === undefined || one === undefined || two === undefined) throw new Error('three were sent');
    await messagesOn(store.db).updateOne({ _id: opener }, { $set: SENT });
    return { account, ids: [opener, one, two] };
  }
  const set = (db: Db, _id: MessageId, to: Partial<ChatMessageDocument>) =>
    messagesOn(db).updateOne({ _id }, { $set: to });
  /** An actor that settles a status of a failed message: the state, then the follow-up. */
  const fails =
    (_id: MessageId): Actor =>
    async (db) => {
      await set(db, _id, FAILED);
      await giveBackRefused(db, [await read(store.db, _id)]);
    };
  /** Sends a message as the chat-app worker does: claims, checks, and notes the outcome, once for each of `ends`. */
  const leaves =
    (_id: MessageId, ...ends: readonly ('sent' | 'refused' | 'put_back')[]): Actor =>
    async (db) => {
      for (const end of ends) {
        await set(db, _id, { state: 'submitting' });
        const departures = await checkDeparture({ db, clock: systemClock }, [await read(store.db, _id)]);
        expect(departures.get(_id)).to.deep.equal({ kind: 'go' });
        if (end === 'put_back') await set(db, _id, { state: 'queued' });
        else if (end === 'sent') await set(db, _id, SENT);
        else {
          await set(db, _id, { state: 'rejected', parts: [{ state: 'refused' }] });
          await giveBackRefused(db, [await read(store.db, _id)]);
        }
      }
    };

  /** Stores an accepted message late: its conversation may be refunded by then, which bars the message. */
  const arrives =
    (message: () => ChatMessageDocument): Actor =>
    async (db) => {
      const { _id } = message();
      await messagesOn(db).insertOne(message());
      await set(db, _id, { state: 'submitting' });
      const departure = (await checkDeparture({ db, clock: systemClock }, [await read(store.db, _id)])).get(_id);
      await set(db, _id, departure?.kind === 'go' ? SENT : { state: 'rejected' });
      await giveBackRefused(db, [await read(store.db, _id)]);
    };

  /** A conversation is paid for once if a message was accepted, else refunded; judged by the stored data only. */
  async function expectRight(account: AccountId): Promise<void> {
    const messages = await chatMessagesOf(store.db, account);
    const payer = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    const entered = await store.db.collection<LedgerEntryDocument>('ledger').find({ account }).toArray();
    // A change not entered in the ledger is still pending, for the maintenance to enter.
    const changes = new Map<string, Pick<LedgerEntryDocument, 'reason' | 'reference'>>([
      ...entered.map((entry) => [entry.change, entry] as const),
      ...Object.entries(payer?.pending ?? {}),
    ]);
    const entries = [...changes.values()];
    const debits = entries.filter(({ reason }) => reason === 'conversation').map(({ reference }) => reference);
    const refunds = entries.filter(({ reason }) => reason === 'refund').map(({ reference }) => reference);
    const used = new Set(messages.filter((one) => !wasRefused(one)).map(({ conversation }) => conversation));
    const kept = debits.filter((conversation) => !refunds.includes(conversation));
    const where = JSON.stringify(messages.map(({ _id, state, conversation }) => [_id, state, conversation]));
    expect([...kept].sort(), where).to.deep.equal([...used].sort());
    expect(new Set(refunds).size, 'given back once').to.equal(refunds.length);
    expect(payer?.balance, where).to.equal(CREDITS - kept.length * PRICE);
    expect((await verifyLedger(store.db, account)).problems).to.deep.equal([]);
  }

  const worldOf = (actorsOf: (ids: Ids) => readonly Actor[]) => async () => {
    const { account, ids } = await begin();
    return { actors: actorsOf(ids), check: () => expectEnd(account) };
  };

  const races: readonly [string, (ids: Ids) => readonly Actor[]][] = [
    ['an included message leaves and is taken', ([opener, one]) => [fails(opener), leaves(one, 'sent')]],
    ['an included message leaves and is refused', ([opener, one]) => [fails(opener), leaves(one, 'refused')]],
  ];
  for (const [what, actorsOf] of races) {
    it(`the opener fails while ${what}: the money is right in every order of their commands`, async () => {
      expect(await everyOrder(store.db, DECIDING, worldOf(actorsOf))).to.be.greaterThan(10);
    });
  }

  it('the opener fails while another message is stored and leaves: the money is right in every order of their commands', async () => {
    const world = async () => {
      const { account, ids } = await begin();
      const [opener, one, two] = ids;
      const late = await read(store.db, two);
      await messagesOn(store.db).deleteOne({ _id: two });
      await leaves(one, 'refused')(store.db);
      return { actors: [fails(opener), arrives(() => late)], check: () => expectEnd(account) };
    };
    expect(await everyOrder(store.db, DECIDING, world)).to.be.greaterThan(10);
  });

  const crowds: readonly [string, (ids: Ids) => readonly Actor[]][] = [
    [
      'an included message is put back and leaves again',
      ([opener, one]) => [fails(opener), leaves(one, 'put_back', 'sent')],
    ],
    [
      'one included message is refused and another is taken',
      ([opener, one, two]) => [fails(opener), leaves(one, 'refused'), leaves(two, 'sent')],
    ],
    [
      'one included message is put back and another is refused',
      ([opener, one, two]) => [fails(opener), leaves(one, 'put_back', 'refused'), leaves(two, 'refused')],
    ],
  ];
  for (const [what, actorsOf] of crowds) {
    it(`the opener fails while ${what}: the money is right in ${ORDERS} orders of their commands`, async () => {
      await someOrders(store.db, DECIDING, worldOf(actorsOf), ORDERS, new Prng(SEED));
    });
  }

  /** Sends the waiting messages and has them refused, so that nothing is undecided; then checks the money. */
  async function expectEnd(account: AccountId): Promise<void> {
    for (const { _id, state } of await chatMessagesOf(store.db, account)) {
      if (state === 'queued') await leaves(_id, 'refused')(store.db);
    }
    await expectRight(account);
  }

  for (const when of ['before', 'after'] as const) {
    it(`is decided by whoever comes next when a process dies ${when} any of its commands`, async () => {
      for (const included of ['sent', 'refused', 'waits'] as const) {
        for (let last = 1, died = true; died; last++) {
          const { account, ids } = await begin();
          const [opener, one] = ids;
          if (included === 'sent') await leaves(one, 'sent')(store.db);
          if (included === 'refused') await leaves(one, 'refused')(store.db);
          await set(store.db, opener, FAILED);
          died = await giveBackRefused(dyingDb(store.db, last, when), [await read(store.db, opener)]).then(
            () => false,
            (error) => {
              if (!(error instanceof Died)) throw error;
              return true;
            },
          );

          await giveBackRefused(store.db, [await read(store.db, opener)]);
          await expectEnd(account);
        }
      }
    });
  }
});
