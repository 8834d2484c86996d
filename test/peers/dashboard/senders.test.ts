import type { Page } from 'playwright-core';
import { findSender } from '../../../shared/carriers/sender.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

describe('the dashboard: senders, links, numbers, opt-outs', function () {
  this.timeout(180_000);
  const world = use(openGatewayWithDashboard);
  let owner: Browser;
  let operator: Browser;
  before(async () => {
    owner = await signedIn(world.db, 'owner', world.account);
    operator = await signedIn(world.db, 'operator');
  });

  const fill = async (page: Page, values: Readonly<Record<string, string>>): Promise<void> => {
    for (const [label, value] of Object.entries(values)) await page.getByRole('dialog').getByLabel(label).fill(value);
  };

  it('a sender: asked for, with a wrong one named at its field, approved by an operator, then given up', async () => {
    const { db, account, dashboard } = world;
    const page = await dashboard.visit('/dashboard/senders', owner);
    await page.getByRole('button', { name: 'Request sender' }).first().click();
    const dialog = page.getByRole('dialog');
    await fill(page, { Sender: 'much too long a sender' });
    await dialog.getByRole('button', { name: 'Request sender' }).click();
    await dialog.getByText('It must be 3 to 15 digits, or 1 to 11 characters').waitFor();
    expect(await dashboard.look(page, 'senders-wrong', ['phone-dark'])).to.deep.equal([]);
    await fill(page, { Sender: 'ASHA' });
    await dialog.getByRole('button', { name: 'Request sender' }).click();
    await page.getByRole('row').filter({ hasText: 'ASHA' }).getByText('In review').waitFor();

    const desk = await dashboard.visit('/dashboard/admin/approvals', operator);
    await desk.getByRole('button', { name: 'Decide ASHA' }).click();
    await desk.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await desk.getByText('ASHA is approved.').waitFor();
    expect((await findSender(db, account, 'ASHA'))?.status).to.equal('approved');

    await page.reload();
    await page.getByRole('row').filter({ hasText: 'ASHA' }).getByText('Approved').waitFor();
    expect(await dashboard.look(page, 'senders', ['phone', 'wide-dark'])).to.deep.equal([]);
    await page.getByRole('button', { name: 'Remove ASHA' }).click();
    await page.getByLabel('Type ASHA to confirm').fill('ASHA');
    await page.getByRole('button', { name: 'Remove sender' }).click();
    await page.getByText('ASHA is removed.').waitFor();
    expect(await findSender(db, account, 'ASHA')).to.equal(undefined);
  });

  it('links: a shortener alone is named at its field; one is asked for, and approved by an operator; a file', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/ctas', owner);
    await page.getByRole('button', { name: 'Register' }).first().click();
    const dialog = page.getByRole('dialog');
    await fill(page, { 'Link, app or number': 'https://bit.ly' });
    await dialog.getByRole('button', { name: 'Register' }).click();
    await dialog.getByText('Everybody can have links at bit.ly').waitFor();
    await fill(page, { 'Link, app or number': 'https://acme.in/offers' });
    await dialog.getByRole('button', { name: 'Register' }).click();
    const row = page.getByRole('row').filter({ hasText: 'acme.in/offers' });
    await row.getByText('In review').waitFor();

    const desk = await dashboard.visit('/dashboard/admin/approvals', operator);
    await desk.getByRole('button', { name: 'Decide acme.in/offers' }).click();
    await desk.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await desk.getByText('acme.in/offers is approved.').waitFor();

    await page.getByRole('button', { name: 'Import file' }).first().click();
    const csv = { name: 'ctas.csv', mimeType: 'text/csv', buffer: Buffer.from('URL\nacme.in/offers\nacme.in/pay\n') };
    await page.getByLabel('CSV file').setInputFiles(csv);
    await page.getByText('1 new one; 1 known already.').waitFor();
    await page.getByRole('button', { name: 'Request 1 line' }).click();
    await page.getByRole('row').filter({ hasText: 'acme.in/pay' }).getByText('In review').waitFor();
    await row.getByText('Registered').waitFor();
    expect(await dashboard.look(page, 'ctas', ['phone', 'wide-dark'])).to.deep.equal([]);
  });

  it('a number: given by an operator, seen by the account, and taken away', async () => {
    const { account, dashboard } = world;
    const desk = await dashboard.visit('/dashboard/admin/numbers', operator);
    await desk.getByRole('button', { name: 'Add number' }).first().click();
    await fill(desk, { Number: '56767', Account: account, Keyword: 'Join' });
    await desk.getByRole('dialog').getByRole('button', { name: 'Add number' }).click();
    await desk.getByRole('cell', { name: 'join', exact: true }).waitFor();
    expect(await dashboard.look(desk, 'operators-numbers', ['phone-dark', 'wide'])).to.deep.equal([]);

    const page = await dashboard.visit('/dashboard/numbers', owner);
    await page.getByRole('row').filter({ hasText: '56767' }).getByText('join').waitFor();
    expect(await dashboard.look(page, 'numbers', ['phone', 'wide-dark'])).to.deep.equal([]);

    await desk.getByRole('button', { name: 'Take away 56767 join' }).click();
    await desk.getByRole('button', { name: 'Take number away' }).click();
    await desk.getByText('No numbers yet.').waitFor();
  });

  it('an opt-out: added as people write numbers, with how we know it, and removed', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/opt-outs', owner);
    await page.getByRole('button', { name: 'Add opt-out' }).first().click();
    await fill(page, { Customer: '+91 98765 43210' });
    await page.getByRole('dialog').getByRole('button', { name: 'Add opt-out' }).click();
    const row = page.getByRole('row').filter({ hasText: '919876543210' });
    await row.getByText('Added here or by the API').waitFor();
    expect(await dashboard.look(page, 'opt-outs', ['phone', 'wide-dark'])).to.deep.equal([]);

    await row.getByRole('button', { name: 'Remove 919876543210' }).click();
    await page.getByRole('button', { name: 'Remove opt-out' }).click();
    await page.getByText('919876543210 gets SMS again.').waitFor();
    await page.getByText('Nobody has opted out.').waitFor();

    const viewer = await signedIn(world.db, 'viewer', world.account);
    const read = await dashboard.visit('/dashboard/opt-outs', viewer);
    await read.getByText('Nobody has opted out.').waitFor();
    expect(await read.getByRole('button', { name: 'Add opt-out' }).count()).to.equal(0);
  });
});
