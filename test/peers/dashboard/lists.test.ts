import type { AuditDocument } from '../../../shared/people/audit.ts';
import { createKey, revokeKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { makeAccount } from '../../support/make.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';
import { openGatewayWithDashboard } from './world.ts';

describe('lists in the dashboard', () => {
  const world = use(openGatewayWithDashboard);

  it('a search that has only paused does not say that there is nothing', async () => {
    const { db, account, dashboard } = world;
    const owner = await signedIn(db, 'owner', account);
    const begunMs = Date.now() - 10_000;
    const entry = (kind: 'ops' | 'user', index: number): AuditDocument => ({
      _id: newId('aud', begunMs + index),
      at: new Date(begunMs + index),
      actor: { kind, id: 'asha@vm-1' },
      action: 'account.update',
      subject: { kind: 'account', id: account },
      account,
      outcome: 'done',
      expiresAt: new Date(begunMs + 86_400_000),
    });
    await db
      .collection<AuditDocument>('audit')
      .insertMany([entry('user', 0), ...Array.from({ length: 1_000 }, (_, index) => entry('ops', index + 1))]);
    const page = await dashboard.visit('/dashboard/audit?actor=user', owner);

    await page.getByText('Nothing among those looked at so far.').waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'account.update' }).waitFor();
  });

  it('"Try again" reads the list again when it was the news that could not be read', async () => {
    const { db, account, dashboard } = world;
    await wrote(db, account, { customer: '919876543210', body: 'first' });
    const page = await dashboard.visit('/dashboard/inbox', await signedIn(db, 'viewer', account));
    await page.getByText('first').waitFor();
    await page.route('**/v2/account/inbox', (route) => route.abort());
    await wrote(db, account, { customer: '919876543211', body: 'second' });
    await page.getByText('The gateway does not answer.').waitFor();
    await page.unroute('**/v2/account/inbox');

    await page.getByRole('button', { name: 'Try again' }).click();

    await page.getByText('second').waitFor();
    await page.getByText('The gateway does not answer.').waitFor({ state: 'detached' });
  });

  it('news moves nobody who reads further below: it is told of, and shown when asked for', async () => {
    const { db, dashboard } = world;
    const account = await makeAccount(db, 0);
    for (let index = 0; index < 60; index++) {
      await wrote(db, account, { customer: `9198765${43_210 + index}`, body: 'hello', minutesAgo: 60 + index });
    }
    const page = await dashboard.visit('/dashboard/inbox', await signedIn(db, 'viewer', account));
    const rows = page.locator('tbody tr');
    await rows.nth(49).waitFor();
    await page.getByRole('button', { name: 'Load more' }).click();
    await rows.nth(59).waitFor();

    await wrote(db, account, { customer: '447700900123', body: 'news' });
    const show = page.getByRole('button', { name: 'Show what is new' });
    await show.waitFor();
    expect(await rows.count()).to.equal(60);
    expect(await dashboard.look(page, 'list-with-news', ['phone', 'wide-dark'])).to.deep.equal([]);
    await show.click();

    await rows.nth(0).getByText('447700900123').waitFor();
    await rows.nth(60).waitFor();
    await show.waitFor({ state: 'detached' });
  });

  it('what stands on a later page is read anew with it: its panel stays, with what was changed', async () => {
    const { db, dashboard } = world;
    const account = await makeAccount(db, 0);
    await createKey(db, systemClock, { account, name: 'Billing', scopes: ['send'] });
    for (let index = 0; index < 50; index++) {
      const { id } = await createKey(db, systemClock, { account, name: `Shop ${index}`, scopes: ['send'] });
      await revokeKey(db, id);
    }
    const page = await dashboard.visit('/dashboard/keys', await signedIn(db, 'owner', account));
    await page.getByRole('button', { name: 'Load more' }).click();
    await page.getByRole('button', { name: 'Billing' }).click();
    await page.getByRole('button', { name: 'Change settings' }).click();
    await page.getByLabel('Name').fill('Invoices');
    await page.getByRole('button', { name: 'Save settings' }).click();

    await page.getByRole('dialog', { name: 'Invoices' }).waitFor();
    expect(await page.locator('tbody tr').count()).to.equal(51);
  });

  it('a conversation whose messages cannot be read says so', async () => {
    const { db, account, dashboard } = world;
    const customer = '919876543212';
    await wrote(db, account, { customer, body: 'Is it open?' });
    const page = await dashboard.visit('/dashboard/inbox', await signedIn(db, 'viewer', account));
    const messages = '**/v2/account/inbox/*';
    await page.route(messages, (route) => route.abort());

    await page.getByRole('link', { name: customer }).click();
    await page.getByText('The gateway does not answer.').waitFor();
    await page.unroute(messages);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Is it open?').waitFor();
  });
});
