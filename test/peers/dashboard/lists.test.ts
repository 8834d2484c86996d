import type { AuditDocument } from '../../../shared/audit/entry.ts';
import { newId } from '../../../shared/runtime/ids.ts';
import { signedIn } from '../../support/signed-in.ts';
import { wrote } from '../../support/wrote.ts';
import { type GatewayWithDashboard, openGatewayWithDashboard } from './world.ts';

describe('lists in the dashboard', () => {
  let world: GatewayWithDashboard;
  before(async () => {
    world = await openGatewayWithDashboard();
  });
  after(() => world.close());

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
});
