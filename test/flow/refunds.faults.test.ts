import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { beginStop } from '../../shared/messages/batch.ts';
import type { MessageDocument, MessageDraft } from '../../shared/messages/document/message.ts';
import type { LedgerEntryDocument } from '../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../shared/money/payment/accept.ts';
import { systemClock } from '../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../shared/platform/runtime/ids.ts';
import { makeBatch, payBatch } from '../support/batches.ts';
import { builtProgram } from '../support/built.ts';
import { makeAccount, makeDraft } from '../support/make.ts';
import { writeOutAll } from '../support/queue.ts';
import type { Refunding } from '../support/refunding.ts';
import { makeBooking } from '../support/schedules.ts';
import { silentLog } from '../support/silent-log.ts';
import { useStore } from '../support/store.ts';

const EACH = 40;
const BATCH = 700;
const CREDITS = 10_000;
const ACCEPTERS = 4;
const IN_FLIGHT = 8;
const HOUR_MS = 3_600_000;

describe('two processes that refund the same at the same instant', () => {
  const store = useStore();
  const children: ChildProcess[] = [];
  after(async () => {
    for (const child of children) child.kill('SIGKILL');
  });

  const accepters = Array.from(
    { length: ACCEPTERS },
    () => () => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog }),
  );

  async function startRefunding(name: string): Promise<ChildProcess> {
    const env = { ...process.env, HARKARA_MONGODB_URI: store.uri, HARKARA_MONGODB_DATABASE: store.db.databaseName };
    const child = fork(await builtProgram('refunding'), [name], { env, execArgv: [] });
    children.push(child);
    expect((await once(child, 'message'))[0]).equal('ready');
    return child;
  }

  /** Everything paid that can end unsent. */
  async function makeEnding(account: AccountId): Promise<Refunding> {
    const { db } = store;
    const accepter = new GroupAccepter({ db, clock: systemClock, log: silentLog });
    const drafts = (more: Partial<MessageDraft> = {}) => Array.from({ length: EACH }, () => makeDraft(more));
    const refused = drafts();
    const expiring = drafts({ validUntil: new Date(Date.now() - 1) });
    const bookings = Array.from({ length: EACH }, () => makeBooking(new Date(Date.now() + HOUR_MS)));
    const payBy = new Date(Date.now() + HOUR_MS);
    await accepter.accept(account, refused);
    await accepter.accept(account, expiring);
    await accepter.settled();
    await writeOutAll(db);
    await Promise.all(bookings.map((booking) => accepter.book(account, booking, payBy)));
    const batch = makeBatch(account, BATCH, { perChunk: BATCH / 2 });
    await payBatch(db, batch);
    await beginStop(db, batch._id);

    const messages = db.collection<MessageDocument>('messages');
    const claim = { id: newId('clm'), carrier: 'sim', epoch: 1, at: new Date() };
    const idsOf = (some: readonly MessageDraft[]) => some.map(({ _id }) => _id);
    const claimed = await messages.updateMany(
      { _id: { $in: idsOf(refused) } },
      { $set: { state: 'submitting', claim } },
    );
    const past = { state: 'waiting', due: new Date(Date.now() - 1) } as const;
    const overdue = await messages.updateMany({ _id: { $in: idsOf(expiring) } }, { $set: past });
    expect([claimed.modifiedCount, overdue.modifiedCount]).deep.equal([EACH, EACH]);
    return { account, refused: idsOf(refused), schedules: bookings.map(({ _id }) => _id), batch: batch._id };
  }

  it('refused, expired, cancelled, stopped: each comes back once, while four accepters debit the account', async () => {
    const account = await makeAccount(store.db, CREDITS);
    const ending = await makeEnding(account);
    const processes = await Promise.all(['one', 'two'].map(startRefunding));
    let on = true;
    const debits = accepters.flatMap((open) => {
      const accepter = open();
      return Array.from({ length: IN_FLIGHT }, async () => {
        let paid = 0;
        while (on) if ((await accepter.accept(account, [makeDraft()])).kind === 'accepted') paid += 1;
        return paid;
      });
    });

    const said = processes.map((child) => once(child, 'message').then(([word]: unknown[]) => word));
    for (const child of processes) child.send(ending);
    const words = await Promise.all(said).finally(() => {
      on = false;
    });
    const paid = (await Promise.all(debits)).reduce((sum, count) => sum + count, 0);

    expect(words).deep.equal(['done', 'done']);
    expect(paid).above(0);
    expect(await verifyLedger(store.db, account)).deep.include({ problems: [], balance: CREDITS - paid });
    const refunds = await store.db
      .collection<LedgerEntryDocument>('ledger')
      .find({ account, reason: 'refund' })
      .toArray();
    expect(new Set(refunds.map(({ change }) => change)).size).equal(refunds.length);
    expect(refunds.reduce((sum, { amount }) => sum + amount, 0)).equal(3 * EACH + BATCH);
    expect(refunds.filter(({ amount }) => amount === 1)).length(3 * EACH);
  });
});
