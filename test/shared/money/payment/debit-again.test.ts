import { type Db, MongoNetworkError } from 'mongodb';
import { GroupAccepter } from '../../../../shared/money/payment/accept.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { makeAccount, makeDraft } from '../../../support/make.ts';
import { silentLog } from '../../../support/silent-log.ts';
import { debitWorld } from './world.ts';

/** A gateway that stalls for longer than the maintenance waits, at the worst moment. */
describe('a debit whose gateway slept', () => {
  const { store, accounts, balanceOf, problemsOf, makeRequest, debits, recover } = debitWorld();

  /** `then` runs between the first debit in the store and its answer. */
  function afterFirstDebit(then: () => Promise<void>): Db {
    let first = true;
    const meanwhile = async <T>(done: Promise<T>): Promise<T> => {
      const answer = await done;
      if (!first) return answer;
      first = false;
      await then();
      return answer;
    };
    const collection = new Proxy(accounts(), {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (property !== 'findOneAndUpdate') return value.bind(target);
        return (...args: unknown[]) => meanwhile(value.apply(target, args));
      },
    });
    return new Proxy(store.db, {
      get(target, property) {
        if (property === 'collection')
          return (name: string) => (name === 'accounts' ? collection : target.collection(name));
        if (property !== 'command') return Reflect.get(target, property);
        return (...[command, options]: Parameters<Db['command']>) =>
          'update' in command ? meanwhile(target.command(command, options)) : target.command(command, options);
      },
    });
  }

  for (const [what, count] of [
    ['one account', 1],
    ['several accounts', 4],
  ] as const) {
    it(`of ${what} is known as paid when the maintenance has finished it meanwhile`, async () => {
      const payers = await Promise.all(Array.from({ length: count }, () => makeAccount(store.db, 3)));
      const slept = afterFirstDebit(async () => void (await recover()));

      const answers = await debits(slept)(payers.map((payer) => makeRequest(payer)));

      expect(answers.map(({ kind }) => kind)).to.deep.equal(payers.map(() => 'paid'));
      for (const payer of payers) expect(await balanceOf(payer)).to.equal(2);
      for (const payer of payers) expect(await problemsOf(payer)).to.deep.equal([]);
    });

    it(`of ${what} is not paid again when its answer was lost and the maintenance has finished it meanwhile`, async () => {
      const payers = await Promise.all(Array.from({ length: count }, () => makeAccount(store.db, 3)));
      const lost = afterFirstDebit(async () => {
        await recover();
        throw new MongoNetworkError('the connection broke');
      });

      const answers = await debits(lost)(payers.map((payer) => makeRequest(payer)));

      expect(answers.map(({ kind }) => kind)).to.deep.equal(payers.map(() => 'paid'));
      for (const payer of payers) expect(await balanceOf(payer)).to.equal(2);
      for (const payer of payers) expect(await problemsOf(payer)).to.deep.equal([]);
    });

    it(`of ${what} gets each answer exactly when it is asked again`, async () => {
      const payers = await Promise.all(
        Array.from({ length: count }, (_, i) => makeAccount(store.db, 3, i % 2 === 1 ? { status: 'suspended' } : {})),
      );
      const poor = await makeAccount(store.db, 0);
      const cut = afterFirstDebit(() => Promise.reject(new MongoNetworkError('the connection broke')));

      const answers = await debits(cut)([...payers, poor].map((payer) => makeRequest(payer)));

      const told = answers.map((answer) => (answer.kind === 'refused' ? answer.why.kind : answer.kind));
      const wanted = payers.map((_, i) => (i % 2 === 1 ? 'account_suspended' : 'paid'));
      expect(told).to.deep.equal([...wanted, 'insufficient_credits']);
    });
  }

  it('is not paid again by its first attempt, which was held up on its way until others of the account had followed', async () => {
    const account = await makeAccount(store.db, 5);
    let release: (() => Promise<unknown>) | undefined;
    const collection = new Proxy(accounts(), {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (property !== 'findOneAndUpdate' || release !== undefined) return value.bind(target);
        return (...args: unknown[]) => {
          release = () => value.apply(target, args);
          return Promise.reject(new MongoNetworkError('the connection broke'));
        };
      },
    });
    const db = new Proxy(store.db, {
      get(target, property) {
        if (property === 'collection')
          return (name: string) => (name === 'accounts' ? collection : target.collection(name));
        return Reflect.get(target, property);
      },
    });
    const accepter = new GroupAccepter({ db, clock: systemClock, log: silentLog });

    for (let i = 0; i < 3; i++) expect((await accepter.accept(account, [makeDraft()])).kind).to.equal('accepted');
    await release?.();

    expect(await balanceOf(account)).to.equal(2);
    await recover();
    expect(await problemsOf(account)).to.deep.equal([]);
    expect(await accounts().findOne({ _id: account })).not.to.have.property('pending');
  });
});
