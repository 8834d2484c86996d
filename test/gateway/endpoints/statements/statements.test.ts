import { expect } from 'chai';
import request from 'supertest';
import { sumOf } from '../../../../gateway/endpoints/statements/credit-price.ts';
import { readPeriods } from '../../../../gateway/endpoints/statements/periods.ts';
import type { LedgerReason } from '../../../../shared/money/accounts/account.ts';
import { entriesIn, type LedgerEntryDocument, ledgerEntryId, together } from '../../../../shared/money/ledger/entry.ts';
import { ledgerCollection } from '../../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { signedIn } from '../../../support/signed-in.ts';

const TAXED = {
  statementSeller: ['Example Messaging Pvt Ltd', 'Pune'],
  ...{ statementTaxName: 'GST', statementTaxPercent: '18', statementTaxNumber: '27AAAPL1234C1ZV' },
  statementZone: 'Asia/Kolkata',
};

/** In the zone of the statements it is October until 18:30 UTC of the 31st. */
const MOVES: readonly (readonly [at: string, reason: LedgerReason, amount: number])[] = [
  ['2026-09-30T18:40:00Z', 'top_up', 1_000],
  ['2026-09-30T18:41:00Z', 'send', -3],
  ['2026-10-05T10:00:00Z', 'send', -20],
  ['2026-10-05T10:00:01Z', 'send', -7],
  ['2026-10-05T10:00:02Z', 'send', -1],
  ['2026-10-05T11:00:00Z', 'refund', 7],
  ['2026-10-31T18:29:00Z', 'conversation', -2],
  ['2026-10-31T18:31:00Z', 'send', -5],
  ['2026-11-02T08:00:00Z', 'correction', -9],
  ['2026-11-02T09:00:00Z', 'refund', 5],
];
const MARK: Readonly<Record<LedgerReason, string>> = {
  ...{ send: 'grp', conversation: 'grp', top_up: 'crd', correction: 'crd', refund: 'ref' },
};

describe('statements of months', () => {
  const site = accountAtGateway(0, TAXED);

  /** An account with these movements, of which debits that follow each other are one document, and the last is pending. */
  async function makeMoved() {
    const account = await makeAccount(site.db, 0);
    let balance = 0;
    const entries = MOVES.map(([at, reason, amount], i): LedgerEntryDocument => {
      balance += amount;
      const change = (reason.endsWith('d') ? `ref_${newId('msg')}` : newId('grp')) as LedgerEntryDocument['change'];
      return {
        ...{ _id: ledgerEntryId(account, i + 1), account, seq: i + 1, amount, balanceAfter: balance, reason },
        change: MARK[reason] === 'crd' ? `crd_invoice-${i}` : change,
        at: new Date(at),
      };
    });
    const [last, ...others] = entries.toReversed();
    if (last === undefined) throw new Error('there is one');
    const isDebit = ({ amount, reason }: LedgerEntryDocument): boolean => amount < 0 && reason === 'send';
    await ledgerCollection(site.db).insertMany([
      ...together(others.filter(isDebit)),
      ...others.filter((entry) => !isDebit(entry)),
    ]);
    const { _id, account: _, change, ...pending } = last;
    await site.db.collection<object>('accounts').updateOne({ _id: account } as object, {
      $set: { balance, seq: last.seq, currency: 'INR', pending: { [change]: pending } },
    });
    return account;
  }

  it('add up, month by month and day by day, with tax, as the ledger says', async () => {
    const account = await makeMoved();
    const key = await makeKey(site.db, account);
    const operator = await signedIn(site.db, 'operator');
    const of = async (month: string) =>
      (await request(site.url).get(`/v2/account/statements/${month}`).set('Authorization', `Bearer ${key}`).expect(200))
        .body;

    expect((await verifyLedger(site.db, account)).problems).to.deep.equal([]);
    const [september, october, november] = [await of('2026-09'), await of('2026-10'), await of('2026-11')];

    expect(september).to.include({ opening_balance: 0, closing_balance: 0, usage: 0, money: null });
    expect(october).to.include({ opening_balance: 0, top_ups: 1_000, corrections: 0, usage: -33, refunds: 7 });
    expect(october).to.include({ closing_balance: 974, complete: true, number: `2026-10/${account}` });
    expect(november).to.include({ opening_balance: 974, corrections: -9, usage: -5, refunds: 5, closing_balance: 965 });
    expect(october.days.map(({ day, usage, balance }: Record<string, unknown>) => [day, usage, balance])).to.deep.equal(
      [
        ['2026-10-01', -3, 997],
        ['2026-10-05', -28, 976],
        ['2026-10-31', -2, 974],
      ],
    );
    expect(october.credits).to.have.length(1);

    await request(site.url)
      .put(`/v2/admin/accounts/${account}/prices`)
      .set(operator.headers)
      .send({ prices: [], credit_price: '0.215' })
      .expect(200);
    const { body } = await request(site.url)
      .get(`/v2/admin/accounts/${account}/statements/2026-10`)
      .set(operator.headers)
      .expect(200);
    expect(body.seller).to.deep.equal(TAXED.statementSeller);
    expect(body.money).to.deep.include({
      ...{ currency: 'INR', credit_price: '0.215', tax_name: 'GST', tax_percent: '18' },
      top_ups: { net: '215.00', tax: '38.70', total: '253.70' },
      usage: { net: '5.59', tax: '1.01', total: '6.60' },
    });
  });

  it('find entries that are stored with others and alone too, and say when refunds were not read', async () => {
    const account = await makeMoved();
    const ledger = ledgerCollection(site.db);
    const run = await ledger.findOne({ account, seq: 2 });
    const [, second] = run === null ? [] : entriesIn(run);
    if (second === undefined) throw new Error('debits that follow each other are one document');
    await ledger.deleteOne({ _id: second._id });
    await ledger.insertOne(second);
    const bounds = ['2026-10-01', '2026-10-06', '2026-11-01'].map((day) => new Date(day));

    const { parts } = await readPeriods(site.db, account, bounds);
    const { whole } = await readPeriods(site.db, account, bounds, 0);

    expect(parts.map(({ opening, closing }) => [opening, closing])).to.deep.equal([
      [997, 976],
      [976, 969],
    ]);
    expect(whole).to.deep.include({ usage: -28, refunds: undefined, closing: 969 });
  });

  it('amounts are rounded once, to the places of the currency', () => {
    expect(sumOf(3, '0.125', '18', 'INR')).to.deep.equal({ net: '0.38', tax: '0.07', total: '0.45' });
    expect(sumOf(-3, '0.125', '7.5', 'JPY')).to.deep.equal({ net: '0', tax: '0', total: '0' });
    expect(sumOf(9_000_000_000, '999999.999999', '0', 'INR').net).to.equal('8999999999991000.00');
  });

  for (const month of ['2026-13', '1999-01', '2999-01', 'november']) {
    it(`400: ${month}`, async () => {
      const { status, body } = await request(site.url)
        .get(`/v2/account/statements/${month}`)
        .set('Authorization', `Bearer ${site.key}`);
      expect([status, body.errors[0].field]).to.deep.equal([400, 'month']);
    });
  }
});
