import type { Page } from 'playwright-core';
import request from 'supertest';
import { deliveriesOf } from '../../../shared/events/webhooks/delivery.ts';
import { listEndpoints, noteHealth } from '../../../shared/events/webhooks/endpoint-store.ts';
import { createKey, findKey, updateKey } from '../../../shared/people/keys/store.ts';
import { findUser } from '../../../shared/people/users/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { makeDelivery } from '../../shared/events/webhooks/make.ts';
import { TEST_CONFIG } from '../../support/gateway.ts';
import { makeAccount } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { openReceiver, type Receiver } from '../../workers/webhooks/receiver.ts';
import { verify } from '../../workers/webhooks/world.ts';
import { type GatewayWithDashboard, openGatewayWithDashboard } from './world.ts';

describe('the dashboard: settings', () => {
  let world: GatewayWithDashboard;
  let developer: Browser;
  let viewer: Browser;
  let receiver: Receiver;
  before(async () => {
    const config = { ...TEST_CONFIG, webhookAllowHttp: 'yes', webhookAllowSubnets: ['127.0.0.0/8'] } as const;
    world = await openGatewayWithDashboard({ config });
    developer = await signedIn(world.db, 'developer', world.account);
    viewer = await signedIn(world.db, 'viewer', world.account);
    receiver = await openReceiver((_, res) => res.end('thanks'));
  });
  after(async () => {
    await receiver.close();
    await world.close();
  });

  /** Reads a secret from its dialog, confirms that it is stored, and closes the dialog. */
  async function takeSecret(page: Page, name: string): Promise<string> {
    const dialog = page.getByRole('dialog', { name: `Your new ${name}` });
    await dialog.waitFor();
    const text = await dialog.locator('.secret code').textContent();
    await dialog.getByLabel('I have stored it').check();
    await dialog.locator('.dialog-actions').getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    return text ?? '';
  }

  it('who renames a key on an old page undoes no restriction of others', async () => {
    const { dashboard, db } = world;
    const account = await makeAccount(db, 1);
    const made = { account, name: 'Shop', scopes: ['send', 'read'], perMinute: 60 } as const;
    const { id } = await createKey(db, systemClock, made);
    const page = await dashboard.visit('/dashboard/keys', await signedIn(db, 'developer', account));
    await page.getByRole('button', { name: 'Shop' }).click();
    await page.getByRole('button', { name: 'Change settings' }).click();
    const seen = await findKey(db, id);
    if (seen !== undefined) await updateKey(db, seen, { scopes: ['read'], allowedIps: ['203.0.113.7'] });

    await page.getByLabel('Requests a minute').fill('');
    await page.getByRole('button', { name: 'Save settings' }).click();
    await page.getByText('It must be a number.', { exact: true }).waitFor();
    await page.getByLabel('Requests a minute').fill('60');
    await page.getByLabel('Name').fill('Shop in Pune');
    await page.getByRole('button', { name: 'Save settings' }).click();

    await page.getByText('Settings saved.').first().waitFor();
    const { name, scopes, allowedIps, perMinute } = (await findKey(db, id)) ?? {};
    expect({ name, scopes, allowedIps, perMinute }).to.deep.equal({
      ...{ name: 'Shop in Pune', scopes: ['read'], allowedIps: ['203.0.113.7'], perMinute: 60 },
    });
  });

  it('a key is made, used, rotated and revoked', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/keys', developer);
    await page.getByText('No keys yet').waitFor();

    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByText('It must have at least one character').waitFor();
    expect(await dashboard.look(page, 'keys-wrong')).to.deep.equal([]);
    await page.getByLabel('Name').fill('<img onerror=alert(1)> server');
    await page.getByLabel('Allowed addresses').fill('127.0.0.1\n');
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('dialog', { name: 'Your new API key' }).waitFor();
    expect(await dashboard.look(page, 'keys-secret')).to.deep.equal([]);
    const key = await takeSecret(page, 'API key');
    const balance = (secret: string) =>
      request(dashboard.url).get('/v2/balance').set('Authorization', `Bearer ${secret}`);
    await balance(key).expect(200);
    expect(await page.content()).not.to.include(key);

    await page.getByRole('button', { name: '<img onerror' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    expect(await dashboard.look(page, 'keys-panel')).to.deep.equal([]);
    await page.getByRole('dialog', { name: 'Rotate the key?' }).getByRole('button', { name: 'Rotate key' }).click();
    const next = await takeSecret(page, 'API key');
    for (const works of [key, next]) await balance(works).expect(200);

    await page.getByRole('button', { name: '<img onerror' }).first().click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    const asked = page.getByRole('dialog', { name: 'Revoke the key' });
    expect(await asked.getByRole('button', { name: 'Revoke key' }).isDisabled()).to.equal(true);
    await asked.getByLabel('to confirm').fill('<img onerror=alert(1)> server');
    await asked.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText('Key revoked').first().waitFor();
  });

  it('a key that made others is revoked with them, when one says so', async () => {
    const { dashboard, db } = world;
    const account = await makeAccount(db, 1);
    const maker = await createKey(db, systemClock, { account, name: 'Robot', scopes: ['send', 'manage'] });
    const post = (name: string) =>
      request(dashboard.url)
        .post('/v2/account/keys')
        .set('Authorization', `Bearer ${maker.key}`)
        .send({ name, scopes: ['send'] })
        .expect(200);
    const made = [(await post('Till 1')).body.key_id, (await post('Till 2')).body.key_id];
    const page = await dashboard.visit('/dashboard/keys', await signedIn(db, 'developer', account));
    await page.getByRole('button', { name: 'Robot' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    const asked = page.getByRole('dialog', { name: 'Revoke the key' });
    await asked.getByText('It made keys that work: Till 1, Till 2.').waitFor();
    expect(await dashboard.look(page, 'keys-descendants')).to.deep.equal([]);

    await asked.getByLabel('Revoke these too').check();
    await asked.getByLabel('to confirm').fill('Robot');
    await asked.getByRole('button', { name: 'Revoke key' }).click();

    await page.getByText('Key revoked').first().waitFor();
    for (const id of [maker.id, ...made]) expect((await findKey(db, id))?.status).to.equal('revoked');
  });

  it('a user who made keys is disabled when one has said what becomes of these', async () => {
    const { dashboard, db } = world;
    const account = await makeAccount(db, 1);
    const leaver = await signedIn(db, 'developer', account);
    const { body } = await request(dashboard.url)
      .post('/v2/account/keys')
      .set(leaver.headers)
      .send({ name: 'Shop', scopes: ['send'] })
      .expect(200);
    const page = await dashboard.visit('/dashboard/users', await signedIn(db, 'owner', account));
    await page.getByRole('button', { name: leaver.user.username }).click();
    await page.getByRole('button', { name: 'Disable user' }).click();
    await page.getByRole('dialog', { name: 'Disable' }).getByRole('button', { name: 'Disable user' }).click();
    const question = page.getByRole('dialog', { name: 'What becomes of the keys?' });
    await question.getByText(`${body.key_id} (Shop)`).waitFor();
    expect(await dashboard.look(page, 'users-keys')).to.deep.equal([]);
    expect(await findUser(db, leaver.user._id)).to.include({ status: 'active' });

    await question.getByRole('button', { name: 'Go on' }).click();

    await page.getByText('is disabled.').first().waitFor();
    expect(await findUser(db, leaver.user._id)).to.include({ status: 'disabled' });
    expect((await findKey(db, body.key_id))?.status).to.equal('revoked');
  });

  it('a key is made and rotated once, however late one presses again after a lost answer', async () => {
    const { dashboard, db } = world;
    const account = await makeAccount(db, 1);
    const page = await dashboard.visit('/dashboard/keys', await signedIn(db, 'developer', account));
    await page.clock.install();
    await page.reload();
    const pressTwice = async (path: string, dialog: string, act: string) => {
      const button = page.getByRole('dialog', { name: dialog }).getByRole('button', { name: act });
      await page.route(path, async (route) => route.fetch().then(() => route.abort()), { times: 1 });
      await button.click();
      await page.getByText('The gateway does not answer.').waitFor();
      await page.clock.fastForward(60_000);
      await button.click();
      return takeSecret(page, 'API key');
    };

    await page.getByRole('button', { name: 'Create key' }).first().click();
    await page.getByLabel('Name').fill('Till');
    await page.getByLabel('Stops working').selectOption('30');
    await pressTwice('**/v2/account/keys', 'Create an API key', 'Create key');
    await page.getByRole('button', { name: 'Till' }).click();
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const next = await pressTwice('**/rotate', 'Rotate the key?', 'Rotate key');

    await request(dashboard.url).get('/v2/balance').set('Authorization', `Bearer ${next}`).expect(200);
    expect(await db.collection('keys').countDocuments({ account })).to.equal(2);
  });

  it('a webhook is added, tested, looked at, replayed and removed', async () => {
    const { dashboard, db, account } = world;
    const page = await dashboard.visit('/dashboard/webhooks', developer);
    await page.getByText('No webhooks yet').waitFor();
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    await page.getByLabel('Address').fill('https://10.0.0.1/');
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    await page.getByText('leads to a private or reserved address').waitFor();
    expect(await dashboard.look(page, 'webhooks-wrong')).to.deep.equal([]);
    await page.getByLabel('Address').fill(`${receiver.url}/hooks`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    const secret = await takeSecret(page, 'webhook secret');

    const [endpoint] = await listEndpoints(db, account);
    if (endpoint === undefined) throw new Error('there is no webhook');
    const attempts = [{ at: new Date(), result: 500, durationMs: 84, excerpt: 'Internal Server Error' }];
    const mine = { endpoint: endpoint._id, account, createdAt: new Date() };
    const lost = makeDelivery({ ...mine, state: 'exhausted', attempts });
    await deliveriesOf(db).insertMany([lost, makeDelivery({ ...mine, state: 'done', attempts: [] })]);
    await noteHealth(db, endpoint._id, new Date());
    await page.reload();
    await page.getByText('Your server answered 500.').waitFor();

    await page.getByRole('link', { name: receiver.url }).click();
    await page.getByRole('heading', { name: 'Delivery log' }).waitFor();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('button', { name: 'Send test', exact: true }).click();
    await page.getByText('Your server acknowledged the event.').waitFor();
    expect(await dashboard.look(page, 'webhook-test')).to.deep.equal([]);
    const [got] = receiver.received;
    expect(got && verify(secret, got)).to.include({ event: 'webhook.test' });
    await page.keyboard.press('Escape');

    await page.getByLabel('Status').selectOption('exhausted');
    const rows = page.getByRole('region', { name: 'Delivery log' }).getByRole('row');
    await rows.nth(2).waitFor({ state: 'detached' });
    expect(page.url()).to.include('state=exhausted');
    expect(await dashboard.look(page, 'webhook')).to.deep.equal([]);
    await rows.getByRole('button', { name: 'message.sent' }).click();
    await page.getByText('Internal Server Error').waitFor();
    expect(await dashboard.look(page, 'webhook-delivery')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Post again' }).click();
    await page.getByText('The event is posted again.').first().waitFor();
    expect(await deliveriesOf(db).findOne({ _id: lost._id })).to.include({ state: 'due' });
    await page.keyboard.press('Escape');

    await page.getByRole('button', { name: 'Replay since' }).click();
    await page.getByLabel('Events from this time on').fill('2026-11-01T00:00');
    await page.getByRole('button', { name: 'Start replay' }).click();
    await page.getByRole('progressbar').waitFor();

    await page.getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel('to confirm').fill(new URL(receiver.url).host);
    await page.getByRole('button', { name: 'Remove webhook' }).click();
    await page.getByText('No webhooks yet').waitFor();
  });

  it('the audit says who did it', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/audit', developer);

    await page.getByRole('button', { name: 'webhook.remove' }).waitFor();
    await page.getByRole('button', { name: 'key.rotate' }).click();
    await page.getByRole('cell', { name: 'rotatedTo' }).waitFor();
    expect(await dashboard.look(page, 'audit-entry')).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.getByLabel('By', { exact: true }).selectOption('ops');
    await page.getByText('No results for this filter').waitFor();
  });

  it('a viewer looks and finds nothing to change', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/keys', viewer);
    await page.getByRole('button', { name: '<img onerror' }).first().click();
    await page.getByText('Requests in 24 hours').waitFor();
    for (const act of ['Create key', 'Rotate key', 'Revoke key', 'Change settings']) {
      expect(await page.getByRole('button', { name: act }).count(), act).to.equal(0);
    }
    await page.goto(`${dashboard.url}/dashboard/webhooks`);
    await page.getByText('No webhooks yet').waitFor();
    expect(await page.getByRole('button', { name: 'Add webhook' }).count()).to.equal(0);
    await page.goto(`${dashboard.url}/dashboard/audit`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.getByRole('region', { name: 'Audit' }).count()).to.equal(0);
  });
});
