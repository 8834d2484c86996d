import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { makeMessage } from '../../support/make.ts';
import { makeOwnThings } from '../../support/own-things.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

const TO = '919876501234';

describe('the dashboard: the support desk', function () {
  this.timeout(180_000);
  const world = use(openGatewayWithDashboard);
  before(async () => {
    await makeOwnThings(world.db, world.account);
    const text = 'Your code is 4711, valid for 10 minutes.';
    await world.db
      .collection<AnyMessage>('messages')
      .insertOne(makeMessage({ account: world.account, to: TO, text, reference: 'order 7' }));
  });

  it('finds a message by its number, opens it in its account, looks around there, and leaves', async () => {
    const desk = await signedIn(world.db, 'operator_desk');
    const page = await world.dashboard.visit('/dashboard', desk);
    const faults = await world.dashboard.look(page, 'desk-find');

    await page.getByLabel('Number, message id').fill('098765 01234');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: TO }).waitFor();
    faults.push(...(await world.dashboard.look(page, 'desk-found')));
    await page.getByRole('link', { name: TO }).click();
    await page.getByText('Your code is ••••').waitFor();
    await page.getByText('You are in the account').waitFor();
    faults.push(...(await world.dashboard.look(page, 'desk-message')));
    const links = await page.locator('.side nav a').allTextContents();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    faults.push(...(await world.dashboard.look(page, 'desk-webhooks')));
    await page.reload();
    await page.getByRole('button', { name: 'Leave account' }).click();
    await page.getByRole('heading', { level: 1, name: 'Asha Traders' }).waitFor();
    faults.push(...(await world.dashboard.look(page, 'desk-account')));

    expect(faults).to.deep.equal([]);
    expect(links).to.include.members(['Overview', 'Messages', 'API keys', 'Users']).and.not.include('Send');
    expect(links).not.to.include('Find messages');
    expect(await page.getByText('You are in the account').count()).to.equal(0);
    await page.context().close();
  });

  it('with admin:support a webhook can be tested there, and nothing else be changed', async () => {
    const support = await signedIn(world.db, 'operator_support');
    const page = await world.dashboard.visit(`/dashboard/admin/accounts/${world.account}`, support);

    await page.getByRole('button', { name: 'Look at the account' }).click();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click();
    await page.locator('main table a').first().click();
    await page.getByRole('button', { name: 'Send test event' }).waitFor();

    expect(await page.getByRole('button', { name: 'Rotate secret' }).count()).to.equal(0);
    expect(await page.getByRole('button', { name: 'Remove' }).count()).to.equal(0);
    await page.context().close();
  });
});
