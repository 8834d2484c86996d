import request from 'supertest';
import type { LedgerReason } from '../../../../shared/money/accounts/account.ts';
import { updateAccount } from '../../../../shared/money/accounts/store.ts';
import {
  entriesIn,
  type LedgerEntryDocument,
  ledgerCollection,
  ledgerEntryId,
  together,
} from '../../../../shared/money/ledger/store.ts';
import { verifyLedger } from '../../../../shared/money/ledger/verify.ts';
import { isGstin, leviesOf, stateOf, sumOf } from '../../../../shared/money/statements/credit-price.ts';
import { readPeriods } from '../../../../shared/money/statements/periods.ts';
import { findIssued } from '../../../../shared/money/statements/statement.ts';
import { systemClock } from '../../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../../shared/platform/runtime/ids.ts';
import { issueMonth } from '../../../../workers/maintenance/duties.ts';
import { accountAtGateway } from '../../../support/account-gateway.ts';
import { makeKey } from '../../../support/gateway.ts';
import { makeAccount } from '../../../support/make.ts';
import { signedIn } from '../../../support/signed-in.ts';

const TAXED = {
  statementSeller: ['Example Messaging Pvt Ltd', 'Pune'],
  ...{ statementTaxName: 'GST', statementTaxPercent: '18', statementTaxNumber: '27AAPFU0939F1ZV' },
  statementZone: 'Asia/Kolkata',
};

const CHANDIGARH = '04AABCU9603R1ZV';

/** In the statements' zone October ends at 18:30 UTC on the 31st. */
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
  const issueDeps = () => ({
    ...{ db: site.db, clock: systemClock, held: () => true },
    statements: { ...TAXED, statementServiceCode: '' },
  });

  /** An account with these movements. Consecutive debits are one document, and the last one is pending. */
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
    expect(october).to.include({ closing_balance: 974, complete: true });
    expect(november).to.include({ opening_balance: 974, corrections: -9, usage: -5, refunds: 5, closing_balance: 965 });
    expect(october.days.map(({ day, usage, balance }: Record<string, unknown>) => [day, usage, balance])).to.deep.equal(
      [
        ['2026-10-01', -3, 997],
        ['2026-10-05', -28, 976],
        ['2026-10-31', -2, 974],
      ],
    );
    expect(october.credits).to.have.length(1);

    const priced = await makeMoved();
    await request(site.url)
      .put(`/v2/admin/accounts/${priced}/prices`)
      .set(operator.headers)
      .send({ prices: [], credit_price: '0.215' })
      .expect(200);
    const { body } = await request(site.url)
      .get(`/v2/admin/accounts/${priced}/statements/2026-10`)
      .set(operator.headers)
      .expect(200);
    expect(body.seller).to.deep.equal(TAXED.statementSeller);
    expect(body.money).to.deep.include({
      ...{ currency: 'INR', credit_price: '0.215', tax_name: 'GST', tax_percent: '18' },
      top_ups: {
        ...{ net: '215.00', tax: '38.70', total: '253.70' },
        taxes: ['CGST', 'SGST'].map((name) => ({ name, percent: '9', amount: '19.35' })),
      },
      usage: {
        ...{ net: '5.59', tax: '1.00', total: '6.59' },
        taxes: ['CGST', 'SGST'].map((name) => ({ name, percent: '9', amount: '0.50' })),
      },
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

  it('amounts are rounded once, to the places of the currency; what is shown adds up', () => {
    const tax = (percent: string) => [{ name: 'VAT', percent }];
    const total = (credits: number, price: string, percent: string, currency = 'INR') => {
      const { net, tax: all, total } = sumOf(credits, price, tax(percent), currency);
      return { net, tax: all, total };
    };
    expect(total(3, '0.125', '18')).to.deep.equal({ net: '0.38', tax: '0.07', total: '0.45' });
    expect(total(-3, '0.125', '7.5', 'JPY')).to.deep.equal({ net: '0', tax: '0', total: '0' });
    expect(total(9_000_000_000, '999999.999999', '0').net).to.equal('8999999999991000.00');
    const gst = { name: 'GST', percent: '18', number: TAXED.statementTaxNumber };
    const levies = (place: string, rule = gst) =>
      leviesOf(rule, stateOf(place)).map(({ name, percent }) => `${name} ${percent}`);
    expect(levies('27')).to.deep.equal(['CGST 9', 'SGST 9']);
    expect(levies('29')).to.deep.equal(['IGST 18']);
    expect(levies('29', { ...gst, number: '29AAA' })).to.deep.equal(['GST 18']);
    expect(levies('04', { name: 'GST', percent: '7.5', number: CHANDIGARH })).to.deep.equal([
      'CGST 3.75',
      'UTGST 3.75',
    ]);
    const halves = sumOf(1, '0.50', leviesOf(gst, stateOf('27')), 'INR');
    expect(halves).to.deep.include({ net: '0.50', tax: '0.10', total: '0.60' });
  });

  it('a GSTIN has a state, a form and a check digit', () => {
    const right = ['27AAPFU0939F1ZV', '29AABCT1332L1ZA', '07AAGFF2194N1Z1', CHANDIGARH];
    const wrong = ['27AAPFU0939F1ZW', '28AAPFU0939F1ZV', '27aapfu0939f1zv', '27AAPFU0939F1Z', '2AAPFU0939F1ZV'];
    expect([...right, ...wrong].filter(isGstin)).to.deep.equal(right);
  });

  it('of a month that is over is issued once, with a number, and stays as it is', async () => {
    const account = await makeMoved();
    const key = await makeKey(site.db, account);
    const owner = await signedIn(site.db, 'owner', account);
    const at = (path: string, headers: Readonly<Record<string, string>>) => request(site.url).get(path).set(headers);
    const bearer = { Authorization: `Bearer ${key}` };
    const of = async (month: string) => (await at(`/v2/account/statements/${month}`, bearer).expect(200)).body;
    const bill = (billing: object) =>
      request(site.url).patch('/v2/account/settings').set(owner.headers).send({ billing });
    await updateAccount(site.db, account, { creditPrice: '0.20' });
    expect((await bill({ gstin: '29AABCT1332L1ZX' })).body.errors[0]).to.include({ field: 'billing.gstin' });
    await bill({ name: 'Asha Stores Pvt Ltd', address: ['12 MG Road'], gstin: '29AABCT1332L1ZA' }).expect(200);

    const [first, again] = await Promise.all([of('2026-10'), of('2026-10')]);
    expect(first.number).to.match(/^\d\d-\d\d\/\d+$/);
    expect(again).to.deep.equal(first);
    expect(first.buyer).to.deep.equal({
      ...{ name: 'Asha Stores Pvt Ltd', address: ['12 MG Road'], gstin: '29AABCT1332L1ZA' },
      state: { code: '29', name: 'Karnataka' },
    });
    expect(first.money.place_of_supply.code).to.equal('29');
    expect(first.money.top_ups.taxes).to.deep.equal([{ name: 'IGST', percent: '18', amount: '36.00' }]);
    // Another price and buyer from now on; numbers have no gaps, and an empty month has none.
    await updateAccount(site.db, account, { creditPrice: '0.30' });
    await bill({ state: '27' }).expect(200);
    expect(await of('2026-10')).to.deep.equal(first);
    const other = await makeMoved();
    const { issued } = await issueMonth(issueDeps(), '2026-10');
    expect(issued).to.be.greaterThan(0);
    const stored = await findIssued(site.db, other, '2026-10');
    expect(stored?.serial).to.be.greaterThan(Number(first.number.split('/')[1]));
    expect((await issueMonth(issueDeps(), '2026-10')).issued).to.equal(0);
    const serials = (await site.db.collection('statements').find().toArray()).map(({ serial }) => serial);
    expect(serials.sort((a, b) => a - b)).to.deep.equal(serials.map((_, i) => i + 1));
    expect(await of('2026-09')).to.include({ number: null, issued_on: null });
    expect((await at('/v2/account/statements/2026-10?zone=UTC', bearer)).body).to.include({ number: null });
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
