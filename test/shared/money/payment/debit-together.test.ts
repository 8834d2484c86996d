import { type Db, MongoNetworkError } from 'mongodb';
import { MIXED } from '../../../../shared/messages/queue/queue-document.ts';
import { queueOf } from '../../../../shared/messages/queue/queue-store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { debitEach } from '../../../../shared/money/payment/debit.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { eventually } from '../../../support/eventually.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { linesOf } from '../../../support/queue.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { debitWorld } from './world.ts';

describe('accounts that pay together', () => {
  const { store, accounts, balanceOf, problemsOf, makeRequest, debits, recover } = debitWorld();
  const storedOf = async (account: AccountId) => (await linesOf(store.db, account)).length;

  /** The first command of this name is done, but its answer is lost. */
  function losingAnswerOf(name: string, meanwhile: () => Promise<unknown> = async () => {}): Db {
    let lost = false;
    return new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command') return Reflect.get(target, property);
        return async (...[command, options]: Parameters<Db['command']>) => {
          const answer = await target.command(command, options);
          if (lost || !(name in command)) return answer;
          lost = true;
          await meanwhile();
          throw new MongoNetworkError('the connection broke');
        };
      },
    });
  }

  it('get each their own exact answer, whatever stands in the way of the others', async () => {
    const rich = await makeAccount(store.db, 5);
    const other = await makeAccount(store.db, 1);
    const poor = await makeAccount(store.db, 0);
    const suspended = await makeAccount(store.db, 5, { status: 'suspended' });
    const expired = await makeAccount(store.db, 5, { expiryDate: '2020-01-01' });
    const late = await makeAccount(store.db, 5);
    const payBy = new Date(Date.now() - 1);

    const answers = await debits()([
      makeRequest(rich),
      makeRequest(poor),
      makeRequest(suspended),
      makeRequest(expired),
      makeRequest(late, { payBy }),
      makeRequest(other, { payBy: new Date(Date.now() + 60_000) }),
      makeRequest(newId('acc')),
    ]);

    expect(answers.map((answer) => (answer.kind === 'refused' ? answer.why : answer.kind))).to.deep.equal([
      'paid',
      { kind: 'insufficient_credits', balance: 0, required: 1 },
      { kind: 'account_suspended' },
      { kind: 'credits_expired', expiryDate: '2020-01-01' },
      { kind: 'too_late' },
      'paid',
      { kind: 'account_suspended' },
    ]);
    const left = await Promise.all([rich, poor, suspended, expired, late, other].map(balanceOf));
    expect(left).to.deep.equal([4, 0, 5, 5, 5, 0]);
  });

  for (const command of ['update', 'insert']) {
    it(`pay once when the answer to the ${command} was lost and it is asked again`, async () => {
      const payers = await Promise.all([3, 3, 0].map((credits) => makeAccount(store.db, credits)));
      const accepter = new GroupAccepter({ db: losingAnswerOf(command), clock: systemClock, log: silentLog });

      const outcomes = await Promise.all(payers.map((account) => accepter.accept(account, [makeDraft()])));

      expect(outcomes.map(({ kind }) => kind)).to.deep.equal(['accepted', 'accepted', 'insufficient_credits']);
      expect(await Promise.all(payers.map(balanceOf))).to.deep.equal([2, 2, 0]);
      await accepter.settled();
      expect(await Promise.all(payers.map(storedOf))).to.deep.equal([1, 1, 0]);
      for (const payer of payers) expect(await problemsOf(payer)).to.deep.equal([]);
    });
  }

  it('have sent nothing again when their lines left before they were inserted again', async () => {
    const payers = await Promise.all([1, 1].map((credits) => makeAccount(store.db, credits)));
    const ended = () => queueOf(store.db).deleteMany({ account: MIXED });
    const accepter = new GroupAccepter({ db: losingAnswerOf('insert', ended), clock: systemClock, log: silentLog });

    await Promise.all(payers.map((account) => accepter.accept(account, [makeDraft()])));
    await accepter.settled();

    const queued = await queueOf(store.db)
      .find({ account: { $in: payers } })
      .sort({ keep: -1 })
      .toArray();
    expect(queued.map(({ written, keep }) => ({ written, keep }))).to.deep.equal([
      { written: true, keep: true }, // has the ids of both, and refuses a late first insert
      { written: true, keep: undefined }, // the messages decide
    ]);
  });

  it('lose no ledger entry when an old view of the account is read for it', async () => {
    const account = await makeAccount(store.db, 5);
    let stale = true;
    const db: Db = new Proxy(store.db, {
      get(target, property) {
        if (property !== 'command') return Reflect.get(target, property);
        return async (...[command, options]: Parameters<Db['command']>) => {
          const answer = await target.command(command, options);
          if (!stale || command.find !== 'accounts') return answer;
          stale = false;
          return { ...answer, cursor: { ...answer.cursor, firstBatch: [{ _id: account }] } };
        };
      },
    });
    const accepter = new GroupAccepter({ db, clock: systemClock, log: silentLog });

    await accepter.accept(account, [makeDraft()]);
    await eventually(() => !stale, 'the old view was read');
    for (let i = 0; i < 2; i++) await accepter.accept(account, [makeDraft()]);

    expect(await problemsOf(account)).to.deep.equal([]);
    await recover();
    expect(await problemsOf(account)).to.deep.equal([]);
    expect(await accounts().findOne({ _id: account })).not.to.have.property('pending');
  });

  it('are told the same when they are asked again with the same groups', async () => {
    const payers = await Promise.all([2, 2, 2].map((credits) => makeAccount(store.db, credits)));
    const requests = payers.map((account) => makeRequest(account));

    const first = await debits()(requests);
    const again = await debits()(requests);

    expect(first.map(({ kind }) => kind)).to.deep.equal(['paid', 'paid', 'paid']);
    expect(again).to.deep.equal(first);
    expect(await Promise.all(payers.map(balanceOf))).to.deep.equal([1, 1, 1]);
  });

  it('are not held up by an account that the store cannot update', async () => {
    const payers = await Promise.all([2, 2].map((credits) => makeAccount(store.db, credits)));
    const broken = await makeAccount(store.db, 2);
    await accounts().updateOne({ _id: broken }, [{ $set: { seq: 'not a number' } }]);

    const answers = await debits()([broken, ...payers].map((account) => makeRequest(account)));
    const two = await debits()([broken, ...payers.slice(0, 1)].map((account) => makeRequest(account)));

    expect(answers.map(({ kind }) => kind)).to.deep.equal(['failed', 'paid', 'paid']);
    expect(two.map(({ kind }) => kind)).to.deep.equal(['failed', 'paid']);
    expect(await Promise.all([broken, ...payers].map(balanceOf))).to.deep.equal([2, 0, 1]);
  });

  it('lose nothing when the process dies between their debit and what follows from it', async () => {
    const payers = await Promise.all([2, 2, 0].map((credits) => makeAccount(store.db, credits)));
    await debitEach(
      store.db,
      payers.map((account) => makeRequest(account)),
    );

    await recover();

    expect(await Promise.all(payers.map(storedOf))).to.deep.equal([1, 1, 0]);
    expect(await Promise.all(payers.map(balanceOf))).to.deep.equal([1, 1, 0]);
    for (const payer of payers) expect(await problemsOf(payer)).to.deep.equal([]);
  });

  it('keep every chain whole when four gateways debit twenty accounts at once', async () => {
    const payers = await Promise.all(Array.from({ length: 20 }, () => makeAccount(store.db, 25)));
    const gateways = Array.from(
      { length: 4 },
      () => new GroupAccepter({ db: store.db, clock: systemClock, log: silentLog }),
    );

    const outcomes = await Promise.all(
      Array.from({ length: 10 }, () =>
        gateways.flatMap((gateway) => payers.map((account) => gateway.accept(account, [makeDraft()]))),
      ).flat(),
    );

    expect(outcomes.filter(({ kind }) => kind === 'accepted')).to.have.length(500);
    expect(outcomes.filter(({ kind }) => kind === 'insufficient_credits')).to.have.length(300);
    for (const gateway of gateways) await gateway.settled();
    for (const payer of payers) {
      expect(await verifyLedger(store.db, payer)).to.deep.include({ balance: 0, problems: [] });
      expect(await storedOf(payer)).to.equal(25);
    }
  });
});
