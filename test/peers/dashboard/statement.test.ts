import { findAccount } from '../../../shared/money/accounts/store.ts';
import { topUp } from '../../../shared/money/ledger/change.ts';
import { TEST_CONFIG } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { LOOKS } from './access.ts';
import { openGatewayWithDashboard } from './world.ts';

const CONFIG = {
  ...TEST_CONFIG,
  statementSeller: ['Example Messaging Pvt Ltd', '14 MG Road, Pune 411001'],
  ...{ statementTaxName: 'GST', statementTaxPercent: '18', statementTaxNumber: '27AAPFU0939F1ZV' },
};
const IN_UTC = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
const MONTH = new Date().toISOString().slice(0, 7);

describe('the dashboard: prices and statements', function () {
  this.timeout(120_000);
  const world = use(() => openGatewayWithDashboard({ config: CONFIG }));

  it('an operator sets a price list, the account reads it, and its statement is printed without the frame', async () => {
    const { db, dashboard } = world;
    const account = await makeAccount(db, 0, { name: 'Asha Traders' });
    const began = new Date();
    await topUp(db, account, 1_000, 'invoice-1');
    const bought = [began, new Date()].map((at) => IN_UTC.format(at));
    const page = await dashboard.visit(`/dashboard/admin/accounts/${account}`, await signedIn(db, 'operator'));
    await page.getByRole('button', { name: 'Set prices' }).click();
    const form = page.getByRole('dialog');
    for (const [i, [what, country, credits]] of (
      [
        ['SMS, for each segment', 'in', '2'],
        ['Conversation that a customer starts', '', '4'],
        ['SMS, for each message', '', 'none'],
      ] as const
    ).entries()) {
      await form.getByRole('button', { name: 'Add a line' }).click();
      const line = form.getByRole('group', { name: `Line ${i + 1}` });
      await line.getByLabel('What').selectOption({ label: what });
      await line.getByLabel('Country').fill(country);
      await line.getByLabel('Credits').fill(credits);
    }
    await form.getByLabel('Price of a credit').fill('0.20');
    await form.getByRole('button', { name: 'Set prices' }).click();
    await form.getByText('Correct the marked field.').waitFor();
    const faults = await dashboard.look(page, 'prices-form');
    await form.getByRole('group', { name: 'Line 3' }).getByRole('button', { name: 'Remove' }).click();
    await form.getByRole('button', { name: 'Set prices' }).click();
    await page.getByText('Statements count 0.20 INR for a credit.').waitFor();
    expect((await findAccount(db, account))?.prices).to.deep.equal([
      { channel: 'sms', country: 'IN', credits: 2, per: 'segment' },
      { channel: 'chatapp', startedBy: 'user', credits: 4 },
    ]);

    faults.push(...(await dashboard.look(page, 'account-with-prices')));
    const settings = await dashboard.visit('/dashboard/account', await signedIn(db, 'owner', account));
    await settings.getByLabel('GSTIN').fill('29AABCT1332L1ZX');
    await settings.getByRole('button', { name: 'Save buyer' }).click();
    await settings.getByText('It is no GSTIN').waitFor();
    await settings.getByLabel('GSTIN').fill('29aabct1332l1za');
    await settings.getByLabel('Legal name').fill('Asha Traders Pvt Ltd');
    await settings.getByLabel('Address').fill('12 MG Road\nBengaluru 560001');
    await settings.getByRole('button', { name: 'Save buyer' }).click();
    await settings.getByText('Saved. It counts within seconds.').waitFor();
    faults.push(...(await dashboard.look(settings, 'account-settings')));
    const viewer = await signedIn(db, 'viewer', account);
    const own = await dashboard.visit('/dashboard/credits', viewer, LOOKS.wide, { timezoneId: 'Pacific/Kiritimati' });
    await own.getByRole('table', { name: 'Prices' }).waitFor();
    faults.push(...(await dashboard.look(own, 'credits-with-prices')));
    await own.locator(`a[href$="/statement/${MONTH}"]`).click();
    await own.getByText('236.00').waitFor();
    await own.getByText('IGST 18 %').waitFor();
    await own.getByText('Karnataka (29)', { exact: true }).waitFor();
    // Not in the browser's zone, where it may be another month.
    const top = own.getByRole('table', { name: 'Top-ups and corrections' });
    expect(bought).to.include(await top.getByRole('time').textContent());
    faults.push(...(await dashboard.look(own, 'statement')));
    const navigation = own.getByRole('navigation').first();
    await own.setViewportSize({ width: 794, height: 1_123 });
    await own.emulateMedia({ media: 'print' });
    expect(await navigation.isVisible()).to.equal(false);
    expect(await own.getByRole('button', { name: 'Print statement' }).isVisible()).to.equal(false);
    expect(await own.getByText('14 MG Road, Pune 411001').isVisible()).to.equal(true);
    if (process.env.DASHBOARD_PICTURES !== undefined) {
      await own.screenshot({ path: `${process.env.DASHBOARD_PICTURES}/statement-print.png`, fullPage: true });
    }
    expect(faults).to.deep.equal([]);
  });
});
