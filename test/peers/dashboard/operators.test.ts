import { startSmsc } from '../../../scripts/simulator/smsc.ts';
import { writeBindReport } from '../../../shared/carriers/bind-report.ts';
import { createCarrier, setCarrierStatus } from '../../../shared/carriers/carrier-store.ts';
import { createSender, findSender } from '../../../shared/carriers/sender.ts';
import type { AnyMessage } from '../../../shared/messages/document/any-message.ts';
import { findAccount, updateAccount } from '../../../shared/money/accounts/store.ts';
import { verifyLedger } from '../../../shared/money/ledger/verify.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { createTemplateRequest } from '../../../shared/templates/sms/request-store.ts';
import { findTemplate } from '../../../shared/templates/sms/store.ts';
import { makeProvider, TEST_BOX } from '../../support/chatapp.ts';
import { makeMessage } from '../../support/make.ts';
import { makeOwnThings } from '../../support/own-things.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard, until } from './world.ts';

/** Pages with something to change. */
const OPERATORS_PAGES = [
  ...[
    '/accounts',
    '/accounts/:account',
    '/approvals',
    '/carriers',
    '/carriers/airtel',
    '/routes',
    '/providers',
    '/numbers',
  ],
  ...['/unmatched', '/users?account_id=:account'],
];
const TO = '919876501234';
const SINCE = new Date('2026-11-22T14:02:00.000Z');

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

describe('the dashboard: operators', function () {
  this.timeout(180_000);
  const world = use(openGatewayWithDashboard);
  let operator: Browser;
  before(async () => {
    operator = await signedIn(world.db, 'operator');
    const { db, account } = world;
    await createCarrier(db, systemClock, TEST_BOX, {
      ...{ _id: 'airtel', name: 'Airtel', host: 'smpp.example.com', port: 2775, systemId: 'us', password: 'x' },
    });
    const until = new Date(Date.now() + 3_600_000);
    const lease = { _id: 'carrier:airtel', owner: 'another-machine', epoch: 3, until };
    await db.collection<{ _id: string }>('leases').insertOne(lease as never);
    await writeBindReport(db, {
      ...{ _id: 'airtel', epoch: 3, at: SINCE },
      binds: [
        {
          ...{ index: 0, state: 'backoff', since: SINCE },
          trouble: { kind: 'refused', code: '0x0E', reason: 'wrong password', since: SINCE },
        },
      ],
      flow: {},
      measured: { since: SINCE, unanswered: [4], answers: { accepted: 9, throttled: 2 }, receipts: { delivered: 8 } },
    });
    await makeProvider(db, account);
    await createSender(db, systemClock, { account, sender: 'ASHA', routes: ['transactional'], status: 'submitted' });
    await createTemplateRequest(db, systemClock, {
      ...{ _id: newId('tpr'), account, name: '<img onerror=alert(1)>', senders: ['ASHA'], routes: ['transactional'] },
      ...{ content: 'Your order {#var#} has left.', category: 'service_implicit' },
    });
  });

  it('a top-up is looked at twice, and stands in the statement with its reason', async () => {
    const { dashboard, db, account } = world;
    const page = await dashboard.visit('/dashboard/admin/accounts', operator);
    await page.getByRole('link', { name: 'Asha Traders' }).waitFor();
    await page.getByRole('link', { name: 'Asha Traders' }).click();
    await page.getByRole('heading', { name: 'Statement', exact: true }).waitFor();

    await page.getByRole('button', { name: 'Top up or correct' }).click();
    await page.getByRole('button', { name: 'Look at it again' }).click();
    await page.getByText('It must be a number.').waitFor();
    await page.getByRole('textbox', { name: 'Credits', exact: true }).fill('5,000');
    await page.getByRole('button', { name: 'Look at it again' }).click();
    const second = page.getByRole('dialog', { name: 'Top up these credits?' });
    await second.getByText('4,200 → 9,200').waitFor();
    expect(await dashboard.look(page, 'operators-top-up')).to.deep.equal([]);
    await second.getByRole('button', { name: 'Add 5,000 credits' }).click();
    await second.getByText('reason', { exact: true }).waitFor();
    await second.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('textbox', { name: 'Reason' }).fill('Invoice 7');
    await page.getByRole('button', { name: 'Look at it again' }).click();
    await page.getByRole('button', { name: 'Add 5,000 credits' }).click();

    await page.getByText('Added 5,000 credits.').waitFor();
    await page.getByText('Top-up: Invoice 7').waitFor();
    expect(await dashboard.look(page, 'operators-account')).to.deep.equal([]);
    expect(await verifyLedger(db, account)).to.deep.include({ balance: 9_200, problems: [] });

    await page.getByRole('button', { name: 'Suspend or pause' }).click();
    await page.getByRole('button', { name: 'Stop account' }).click();
    await page.getByText('is suspended').waitFor();
    await page.getByRole('button', { name: 'Resume account' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume account' }).click();
    await page.getByText('is active').waitFor();
  });

  it('settings that were not touched stay as others have set them, and none is taken away', async () => {
    const { dashboard, db, account } = world;
    await updateAccount(db, account, { country: 'IN' });
    const page = await dashboard.visit(`/dashboard/admin/accounts/${account}`, operator);
    const country = page.getByLabel('Country of numbers without a code');
    const save = page.getByRole('button', { name: 'Save settings' });
    await country.waitFor(); // The page has read the settings before others change them.
    await updateAccount(db, account, { senders: 'registered', country: 'GB' });

    await country.fill('');
    await save.click();
    await page.getByText('It must be a country in two letters').waitFor();
    await country.fill('IN');
    await page.getByLabel('Check of recipients').selectOption('on');
    await save.click();

    await page.getByText('Settings saved.').waitFor();
    const { senders, country: kept, numberCheck } = (await findAccount(db, account)) ?? {};
    expect([senders, kept, numberCheck]).to.deep.equal(['registered', 'GB', 'on']);
    await updateAccount(db, account, { senders: 'any', numberCheck: undefined });
  });

  it('a sender and a template are decided about', async () => {
    const { dashboard, db, account } = world;
    const page = await dashboard.visit('/dashboard/admin/approvals', operator);
    await page.getByRole('button', { name: 'Decide ASHA' }).waitFor();
    expect(await dashboard.look(page, 'operators-approvals')).to.deep.equal([]);

    await page.getByRole('button', { name: 'Decide ASHA' }).click();
    await page.getByLabel('Decision').selectOption('rejected');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await page.getByText('Say why, so that the account knows what to change.').waitFor();
    expect(await dashboard.look(page, 'operators-reject')).to.deep.equal([]);
    await page.getByLabel('Decision').selectOption('approved');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('ASHA is approved.').waitFor();
    expect((await findSender(db, account, 'ASHA'))?.status).to.equal('approved');

    await page.getByRole('button', { name: 'Decide <img' }).click();
    await page.getByText('Your order {#var#} has left.').waitFor();
    await page.getByLabel('DLT template id').fill('1107160000000012345');
    expect(await dashboard.look(page, 'operators-template')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.getByText('Nothing waits for a decision.').waitFor();
    expect((await findTemplate(db, account, '1107160000000012345'))?.status).to.equal('approved');
  });

  it('the carriers and each of them say what is wrong, and what changes meanwhile', async () => {
    const { dashboard, db } = world;
    const page = await dashboard.visit('/dashboard/admin', operator);
    await page.getByText('Carriers bound').waitFor();

    await page.getByRole('link', { name: 'Carriers', exact: true }).first().click();
    await page.getByText('wrong password (0x0E)').waitFor();
    await page.getByRole('link', { name: 'Airtel' }).click();
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    expect(await dashboard.look(page, 'operators-carrier')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Window size' }).click();
    await page.getByRole('textbox', { name: 'Window size' }).fill('0');
    await page.getByRole('button', { name: 'Change setting' }).click();
    await page.getByText('It must be 1 to 10000.', { exact: true }).waitFor();
    expect(await dashboard.look(page, 'operators-setting')).to.deep.equal([]);
    await page.getByRole('textbox', { name: 'Window size' }).fill('20');
    await page.getByRole('button', { name: 'Change setting' }).click();
    await page.getByText('Window size is changed.').waitFor();

    await page.getByRole('button', { name: 'Port', exact: true }).click();
    await page.getByRole('textbox', { name: 'Port', exact: true }).fill('2776');
    await page.getByText('Port decides where the password is sent').waitFor();
    await page.getByRole('button', { name: 'Change setting' }).click();
    await page.getByText("Give the carrier's password in the same request.").waitFor();
    expect(await dashboard.look(page, 'operators-setting-password')).to.deep.equal([]);
    await page.getByLabel('Password of the bind').fill('hunter2!');
    await page.getByRole('button', { name: 'Change setting' }).click();
    await page.getByText('Port is changed.').waitFor();

    await setCarrierStatus(db, 'airtel', 'paused');
    await page.getByRole('button', { name: 'Resume carrier' }).waitFor();
    await page.getByRole('link', { name: 'Carriers', exact: true }).first().click();
    await page.getByRole('region', { name: 'Carriers' }).waitFor();
    expect(await dashboard.look(page, 'operators-carriers')).to.deep.equal([]);
  });

  it('a carrier is added with a preset and DLT, when its bind has been tested', async () => {
    const { dashboard, db } = world;
    const smsc = await startSmsc({});
    const page = await dashboard.visit('/dashboard/admin/carriers', operator);
    await page.getByRole('button', { name: 'Add carrier' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a carrier' });
    await dialog.getByLabel('Short name').fill('jio');
    await dialog.getByLabel('Preset').selectOption('sinch');
    await dialog.getByLabel('host').fill('127.0.0.1');
    await dialog.getByLabel('port').fill('1');
    await dialog.getByLabel('System id').fill('us');
    await dialog.getByLabel('tls').selectOption('no');
    await dialog.getByLabel('Password of the bind').fill('simulate');
    await dialog.getByLabel('DLT ids').fill('0x1400,0x1401');
    await dialog.getByRole('button', { name: 'Test the bind' }).click();
    await dialog.getByText('no answer, or no connection').waitFor();
    expect(await dashboard.look(page, 'operators-new-carrier')).to.deep.equal([]);
    await dialog.getByLabel('port').fill(String(smsc.port));
    await dialog.getByRole('button', { name: 'Test the bind' }).click();
    await dialog.getByText('The carrier accepted the bind.').waitFor();
    await dialog.getByRole('button', { name: 'Add carrier' }).click();

    await page.getByRole('heading', { level: 1, name: 'jio' }).waitFor();
    const stored = await db.collection('carriers').findOne({ _id: 'jio' as never });
    expect(stored).to.deep.include({ port: smsc.port, receiptOffsetMinutes: 330 });
    expect(stored?.dlt).to.include({ entityTag: 0x1400, templateTag: 0x1401 });
    await db.collection('carriers').deleteOne({ _id: 'jio' as never });
    await smsc.close();
  });

  it('a carrier over HTTPS is added by its preset, and its page speaks of no bind to test', async () => {
    const { dashboard, db } = world;
    const listener = await startSmsc({}); // Accepts any connection.
    const page = await dashboard.visit('/dashboard/admin/carriers', operator);
    await page.getByRole('button', { name: 'Add carrier' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a carrier' });
    await dialog.getByLabel('Short name').fill('web');
    await dialog.getByLabel('Preset').selectOption('twilio-http');
    await dialog.getByLabel('host').fill('127.0.0.1');
    await dialog.getByLabel('port').fill(String(listener.port));
    await dialog.getByLabel('System id').fill('AC1');
    await dialog.getByLabel('tls').selectOption('no');
    await dialog.getByLabel('Password or API key').fill('simulate');
    await dialog.getByText('Request, answer and receipts').click();
    expect(await dialog.getByLabel('Request form').inputValue()).to.contain('To={to}');
    for (const ofSmpp of ['DLT ids', 'Bind kind']) expect(await dialog.getByLabel(ofSmpp).count()).to.equal(0);
    expect(await dialog.getByLabel('Window size').count()).to.equal(1);
    await dialog.getByRole('button', { name: 'Test the connection' }).click();
    await dialog.getByText('connection: made').waitFor();
    expect(await dashboard.look(page, 'operators-new-http-carrier', ['phone', 'wide-dark'])).to.deep.equal([]);
    await dialog.getByRole('button', { name: 'Add carrier' }).click();

    await page.getByRole('heading', { level: 1, name: 'web' }).waitFor();
    await page.getByRole('button', { name: 'Test the connection' }).waitFor();
    const [shown = 0, whole = 1]: number[] = await page.evaluate(`
      (({ clientWidth, scrollWidth }) => [clientWidth, scrollWidth])(document.querySelector('[aria-label=Settings]'))`);
    expect(whole).to.equal(shown);
    const stored = await db.collection('carriers').findOneAndDelete({ _id: 'web' as never });
    expect(stored).to.deep.include({ kind: 'http', port: listener.port, receiptOffsetMinutes: 0 });
    await listener.close();
  });

  it('opt-ins of an account are added and taken off', async () => {
    const { dashboard, account } = world;
    const page = await dashboard.visit(`/dashboard/admin/accounts/${account}/opt-ins`, operator);
    await page.getByText('Nobody is on the list.').waitFor();
    await page.getByRole('button', { name: 'Add customers' }).first().click();
    await page.getByRole('textbox', { name: 'Customers' }).fill('919876543210\n+91 98765 43211');
    await page.getByRole('button', { name: 'Add to the list' }).click();
    await page.getByRole('cell', { name: '919876543211', exact: true }).waitFor();
    expect(await dashboard.look(page, 'operators-opt-ins')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Take off 919876543210' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Take off' }).click();
    await page.getByText('919876543210 is off the list.').waitFor();
  });

  it('a chat-app number is changed and sends a test', async () => {
    const page = await world.dashboard.visit('/dashboard/admin/providers', operator);
    await page
      .getByRole('button', { name: /^Change 9/ })
      .first()
      .click();
    await page.getByLabel('Opt-in').selectOption('list');
    expect(await world.dashboard.look(page, 'operators-provider')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Change number' }).click();
    await page.getByText('by the list').waitFor();
    await page.getByRole('table').getByRole('link', { name: /^9/ }).first().click();
    await page.getByRole('button', { name: 'Send a test', exact: true }).click();
    await page.getByLabel('Your own number').fill('+91 98765 43210');
    await page.getByRole('button', { name: 'Send test', exact: true }).click();
    await page.getByText(/The provider (took it|did not answer|answered)/).waitFor();
    expect(await world.dashboard.look(page, 'operators-provider-test')).to.deep.equal([]);
  });

  it('a route is added, asked and removed', async () => {
    const page = await world.dashboard.visit('/dashboard/admin/routes', operator);
    await page.getByRole('button', { name: 'Add route' }).click();
    await page.getByLabel('Name', { exact: true }).fill('all');
    await page.getByRole('button', { name: 'Add a carrier' }).click();
    await page.getByLabel('Carrier', { exact: true }).selectOption('airtel');
    await page.getByLabel('Weight').fill('-1');
    await page.getByRole('dialog').getByRole('button', { name: 'Add route' }).click();
    await page.getByText('Correct the marked field.').waitFor();
    expect(await world.dashboard.look(page, 'operators-route')).to.deep.equal([]);
    await page.getByLabel('Weight').fill('1');
    await page.getByRole('dialog').getByRole('button', { name: 'Add route' }).click();
    await page.getByText('everything → airtel').waitFor();

    await page.getByLabel('Recipient').fill('919876543210');
    await page.getByRole('combobox', { name: 'Account' }).fill('asha tr');
    await page.keyboard.press('Tab');
    await until(page, `document.querySelector('[name=account_id]').value === '${world.account}'`);
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('By the route all').waitFor();
    expect(await world.dashboard.look(page, 'operators-routes')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Remove all' }).click();
    await page.getByLabel('to confirm').fill('all');
    await page.getByRole('button', { name: 'Remove route' }).click();
    await page.getByText('No routes: each carrier').waitFor();
  });

  it('a first owner is invited, and disabled again', async () => {
    const { dashboard, account } = world;
    const page = await dashboard.visit(`/dashboard/admin/users?account_id=${account}`, operator);
    await page.getByText('Invite its first owner').waitFor();
    await page.getByRole('button', { name: 'Invite a user' }).click();
    await page.getByLabel('Sign-in name').fill('asha@example.com');
    await page.getByRole('button', { name: 'Invite user' }).click();
    await page.getByText('/dashboard/link#').waitFor();
    expect(await dashboard.look(page, 'operators-link')).to.deep.equal([]);
    await page.goto(`${dashboard.url}/dashboard/admin/users?account_id=${account}`);
    await page.getByRole('button', { name: 'asha@example.com' }).click();
    expect(await dashboard.look(page, 'operators-user')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Disable user' }).click();
    await page.getByRole('dialog', { name: 'Disable asha' }).getByRole('button', { name: 'Disable user' }).click();
    await page.getByText('asha@example.com is disabled.').waitFor();
  });

  for (const [role, offered] of [
    ['operator_viewer', []],
    [
      'operator_support',
      [
        ...['Create account', 'Look at the account', 'Suspend or pause', 'With its messages', 'Set limits'],
        ...['Save settings', 'Decide'],
      ],
    ],
  ] as const) {
    it(`${role} is offered nothing that would be refused`, async () => {
      const { dashboard, db, account } = world;
      await createSender(db, systemClock, { account, sender: role.slice(-6), routes: [], status: 'submitted' });
      const page = await dashboard.visit('/dashboard/admin', await signedIn(db, role));
      const found: string[] = [];
      for (const path of OPERATORS_PAGES) {
        await page.goto(`${dashboard.url}/dashboard/admin${path.replace(':account', account)}`);
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        found.push(...(await page.getByRole('main').getByRole('button').allTextContents()));
      }

      // Buttons that copy an id, open a user or only look.
      const acts = found.filter((name) => !/^$|@|^Explain$|^Clear filter$/.test(name));
      expect([...new Set(acts.map((name) => name.replace(/^Decide .*/, 'Decide')))]).to.deep.equal(offered);
    });
  }
});
