import { blocks, changeOptOuts, listOptOuts, readScopes } from '../../../../shared/carriers/opt-outs/store.ts';
import type { AccountDocument } from '../../../../shared/money/accounts/account.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { type AccountId, newId } from '../../../../shared/platform/runtime/ids.ts';
import { InboundOptOuts, type Received } from '../../../../workers/smpp/inbound/opt-outs.ts';
import { makeAccount } from '../../../support/make.ts';
import { useStore } from '../../../support/store.ts';

const CUSTOMER = '919876543210';
const NUMBER = '56767';
const T = Date.parse('2026-11-22T10:00:00Z');

describe('what follows from customers’ STOP and START', () => {
  const store = useStore();
  let account: AccountId;
  beforeEach(async () => {
    account = await makeAccount(store.db, 0);
  });

  /** Each call is like a new process without memory. */
  const apply = (...messages: readonly Received[]): Promise<readonly Received[]> =>
    new InboundOptOuts({ db: store.db, clock: systemClock, withDueAnswers: new Set() }).apply(messages);
  const wrote = (body: string, seconds: number, more: Partial<Received> = {}): Received => ({
    _id: newId('msg'),
    account,
    from: CUSTOMER,
    to: NUMBER,
    carrier: 'sim',
    history: [{ state: 'received', at: new Date(T + seconds * 1_000) }],
    inbound: { type: 'text', body },
    ...more,
  });
  const statesOf = (messages: readonly Received[]) => messages.map(({ history }) => history.map(({ state }) => state));
  const isOutTo = async (sender = NUMBER): Promise<boolean> => {
    const scopes = await readScopes(store.db, account, [CUSTOMER, '1'.repeat(11)]);
    return blocks(scopes.get(CUSTOMER) ?? [], sender);
  };

  it('STOP opts out of the number, marks the account and becomes an event', async () => {
    const [stop] = await apply(wrote('Stop!', 0));

    expect(stop?.optOut).to.equal('out');
    expect(stop?.history).to.deep.equal([
      { state: 'received', at: new Date(T) },
      { state: 'opted_out', at: new Date(T + 1) },
    ]);
    const [entry, ...others] = await listOptOuts(store.db, account, {}, undefined, 10);
    expect(others).to.deep.equal([]);
    expect(entry).to.include({ account, customer: CUSTOMER, scope: NUMBER, source: 'inbound', word: 'stop' });
    expect(entry?.since).to.deep.equal(new Date(T));
    const marked = await store.db.collection<AccountDocument>('accounts').findOne({ _id: account });
    expect(marked?.optOuts).to.equal(true);
  });

  it('counts for the number and for names, and for no other number', async () => {
    await apply(wrote('STOP', 0));

    expect(await isOutTo(NUMBER)).to.equal(true);
    expect(await isOutTo('HARKRA')).to.equal(true);
    expect(await isOutTo('98765')).to.equal(false);
  });

  it('done again, after a crash at any point, gives the same', async () => {
    const stop = wrote('STOP', 0);
    const first = await apply(stop);
    const before = await listOptOuts(store.db, account, {}, undefined, 10);

    const again = await apply(stop);

    expect(again).to.deep.equal(first);
    expect(await listOptOuts(store.db, account, {}, undefined, 10)).to.deep.equal(before);
  });

  it('a STOP that is done again after a later START takes nothing back, and has its event', async () => {
    const stop = wrote('STOP', 0);
    const start = wrote('START', 5);
    const first = await apply(stop);
    await apply(start);

    const again = await apply(stop);

    expect(again).to.deep.equal(first);
    expect(await isOutTo()).to.equal(false);
  });

  for (const words of [
    ['STOP 0', 'STOP 2', 'START 1'],
    ['START 2', 'STOP 1'],
    ['STOP 0', 'START 1', 'START 3', 'STOP 2'],
  ]) {
    it(`told as ${words.join(', ')} (seconds): the late word changes nothing and has no event`, async () => {
      const messages = words.map((word) => {
        const [body = '', seconds] = word.split(' ');
        return wrote(body, Number(seconds));
      });
      for (const message of messages.slice(0, -1)) await apply(message);
      const before = await isOutTo();

      const late = await apply(...messages.slice(-1));

      expect(await isOutTo()).to.equal(before);
      expect(statesOf(late)).to.deep.equal([['received']]);
    });
  }

  it('START that is told after an opt-out by an operator, and was written before, changes nothing', async () => {
    await apply(wrote('STOP', 0));
    const what = { account, customer: CUSTOMER, scope: NUMBER, kind: 'out', source: 'ops' } as const;
    await changeOptOuts(store.db, [{ ...what, at: new Date(T + 2_000) }]);

    await apply(wrote('START', 1));

    expect(await isOutTo()).to.equal(true);
  });

  it('START ends it, with an event; a word that changes nothing has none', async () => {
    const messages = [wrote('START', 0), wrote('STOP', 1), wrote('stop', 2), wrote('unstop', 3), wrote('start', 4)];

    const applied = await apply(...messages);

    expect(statesOf(applied)).to.deep.equal([
      ['received'],
      ['received', 'opted_out'],
      ['received'],
      ['received', 'opted_in'],
      ['received'],
    ]);
    expect(applied.map(({ optOut }) => optOut)).to.deep.equal(['in', 'out', 'out', 'in', 'in']);
    expect(await isOutTo()).to.equal(false);
  });

  it('START does not end what is said of the whole account', async () => {
    const what = { account, customer: CUSTOMER, scope: '*', kind: 'out', source: 'api' } as const;
    await changeOptOuts(store.db, [{ ...what, at: new Date(T - 1_000) }]);

    const applied = await apply(wrote('START', 0));

    expect(statesOf(applied)).to.deep.equal([['received']]);
    expect(await isOutTo('98765')).to.equal(true);
  });

  it('near misses are told and change nothing; other texts cost no command that writes', async () => {
    const binary = wrote('STOP', 0, { inbound: { type: 'binary', body: 'STOP' } });
    const applied = await apply(wrote('please stop', 0), wrote('Where is it?', 0), wrote('INFO', 0), binary);

    expect(applied.map(({ optOut }) => optOut)).to.deep.equal(['near', undefined, 'help', undefined]);
    expect(statesOf(applied).flat()).to.deep.equal(['received', 'received', 'received', 'received']);
    expect(await store.db.collection('opt_outs').countDocuments({ account })).to.equal(0);
  });
});
