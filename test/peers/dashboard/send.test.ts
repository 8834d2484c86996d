import { TEMPLATES } from '../../../scripts/simulator/provider/templates.ts';
import { createSender } from '../../../shared/carriers/sender.ts';
import { batchCollection } from '../../../shared/messages/batch.ts';
import type { MessageDocument, Route } from '../../../shared/messages/document/message.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { copyTemplates, makeProvider } from '../../support/chatapp.ts';
import { makeAccount } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';
import { LOOKS } from './access.ts';
import { openGatewayWithDashboard, until } from './world.ts';

describe('sending in the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let sender: Browser;
  before(async () => {
    sender = await signedIn(world.db, 'sender', world.account);
  });

  const messages = () => world.db.collection<MessageDocument>('messages');

  it('counts while one types, checks first, shows price and curl, sends, and leads to the message', async () => {
    const page = await world.dashboard.visit('/dashboard/send', sender);
    await page.getByLabel('Recipient').fill('+91 98765-43210');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('Café is open');
    await page.getByText('GSM-7, 12 of 160 characters, 1 segment.').waitFor();
    await page.getByLabel('Text').fill('It’s open 🎉');
    await page.getByText('’ 🎉 make it Unicode').waitFor();
    await page.getByLabel('Text').fill('It\u00a0is open');
    await page.getByText('U+00A0 makes it Unicode').waitFor();
    await page.getByLabel('Text').fill('It’s open 🎉');
    await page.getByText('"to": "919876543210"').waitFor();
    await page.getByText('Bearer $HARKARA_KEY').waitFor();

    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('heading', { name: 'Checked' }).waitFor();
    expect(await messages().countDocuments({ account: world.account })).to.equal(0);
    expect(await world.dashboard.look(page, 'send')).to.deep.equal([]);

    await page.getByLabel('Text').fill('It is open');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Send for 1 credit' }).click();
    await page.getByRole('link', { name: 'Its timeline' }).waitFor();
    const stored = await messages().findOne({ account: world.account });
    expect(stored).to.include({ to: '919876543210', text: 'It is open', sender: 'HARKRA' });
    expect(await world.dashboard.look(page, 'sent')).to.deep.equal([]);

    // The stream brings the state; the page does not ask for it.
    await page.getByText('queued', { exact: true }).waitFor();
    await messages().updateOne({ account: world.account }, { $set: { state: 'delivered' } });
    await page.getByText('delivered', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Its timeline' }).click();
    await page.getByRole('heading', { level: 1, name: 'Message' }).waitFor();
  });

  it('says on the clock of the page until when it waits', async () => {
    const zone = { timezoneId: 'America/New_York' };
    const page = await world.dashboard.visit('/dashboard/send', sender, LOOKS.wide, zone);
    await page.route('**/v2/send', async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        json: { ...(await response.json()), deferred_until: '2026-11-26T10:00:00+05:30' },
      });
    });
    await page.getByLabel('Recipient').fill('919876543219');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('Only today');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Send for 1 credit' }).click();

    await page.getByText('It waits until 25 Nov 2026, 23:30:').waitFor();
  });

  it('a second click, or a second Enter, that was for the check sends nothing', async () => {
    const before = await messages().countDocuments();
    const page = await world.dashboard.visit('/dashboard/send', sender);
    const send = page.getByRole('button', { name: 'Send for 1 credit' });
    const answered = () => page.waitForResponse('**/v2/send');
    await page.getByLabel('Recipient').fill('919876543210');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('Once is enough');
    const check = page.getByRole('button', { name: 'Check' });
    await check.scrollIntoViewIfNeeded();
    const { x = 0, y = 0 } = (await check.boundingBox()) ?? {};

    await page.mouse.click(x + 5, y + 5);
    await send.waitFor();
    const [clicked] = await Promise.all([answered(), page.mouse.click(x + 5, y + 5)]);
    await page.getByLabel('Sender').press('End'); // only focuses it
    await send.waitFor();
    const [entered] = await Promise.all([answered(), page.keyboard.press('Enter')]);

    for (const { status, dry_run } of [await clicked.json(), await entered.json()]) {
      expect({ status, dry_run }).to.deep.equal({ status: 'success', dry_run: true });
    }
    expect(await messages().countDocuments()).to.equal(before);
  });

  it('says at the field what is wrong, and sends nothing', async () => {
    const page = await world.dashboard.visit('/dashboard/send', sender);
    await page.getByLabel('Recipient').fill('12');
    await page.getByRole('button', { name: 'Check' }).click();

    const recipient = page.getByLabel('Recipient');
    await page.locator('[aria-invalid=true]').first().waitFor();
    expect(await recipient.getAttribute('aria-invalid')).to.equal('true');
    await until(page, `document.activeElement.name === 'to'`);
    expect(await world.dashboard.look(page, 'send-wrong')).to.deep.equal([]);
  });

  it('books for a time in the zone that one chose, and cancels it', async () => {
    const page = await world.dashboard.visit('/dashboard/send', sender);
    await page.getByLabel('Recipient').fill('919876543210');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('Later');
    const day = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10);
    await page.getByLabel('Send at').fill(`${day}T10:30`);
    await page.getByLabel('Time zone').selectOption('Asia/Kolkata');

    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText(`${day}T10:30:00+05:30`).first().waitFor();
    await page.getByRole('button', { name: 'Send for 1 credit' }).click();
    await page.getByRole('link', { name: 'See what waits' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Cancel schedule' }).click();
    await page.getByText('1 credit was refunded').waitFor();
    await page.getByText('Nothing waits for its time.').waitFor();
  });

  it('takes a pasted table, shows its columns, and sends to the chosen one', async () => {
    const page = await world.dashboard.visit('/dashboard/send/many', sender);
    const table = 'name,phone\n"Rao, Asha",+91 98765 43210\nRavi,919876543211\nRavi,919876543211\n';
    await page.getByLabel('Recipients', { exact: true }).fill(table);
    await page.getByText('3 recipients').waitFor();
    await page.getByRole('cell', { name: 'Rao, Asha' }).waitFor();
    expect(await page.getByLabel('Column with the number').inputValue()).to.equal('1');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('{{name}}, we are open');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('{{name}} goes out as it is written.').waitFor();
    await page.getByLabel('Text').fill('We are open');

    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Equal entries left out').waitFor();
    expect(await page.getByText('goes out as it is written').count()).to.equal(0);
    expect(await world.dashboard.look(page, 'send-many')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Send for 2 credits' }).click();
    await page.getByRole('link', { name: 'Follow the batch' }).click();
    await page.getByRole('heading', { level: 1, name: 'Batch' }).waitFor();
    const batch = await batchCollection(world.db).findOne({ account: world.account });
    expect(batch).to.include({ total: 2, duplicates: 1 });
  });

  it('reads a file as what it is, says why it cannot, and takes it again when it is corrected', async () => {
    const page = await world.dashboard.visit('/dashboard/send/many', sender);
    const box = page.getByLabel('Recipients', { exact: true });
    const input = page.getByLabel('Or read them from a CSV file');
    const choose = async (buffer: Buffer) => {
      const chooser = page.waitForEvent('filechooser');
      await input.click();
      const value = await input.inputValue(); // after clearing it, choosing the same file is a change
      await (await chooser).setFiles({ name: 'list.csv', mimeType: 'text/csv', buffer });
      return value;
    };
    const table = 'phone,name\n919876543210,José\n';

    await choose(Buffer.from(table));
    await page.getByRole('cell', { name: 'José' }).waitFor();
    expect(await choose(Buffer.from(table, 'latin1'))).to.equal('');
    await page.getByText('is not UTF-8').waitFor();
    expect([await box.inputValue(), await input.getAttribute('aria-invalid')]).to.deep.equal(['', 'true']);
    expect(await world.dashboard.look(page, 'send-many-file')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Read it as Windows-1252' }).click();
    await page.getByRole('cell', { name: 'José' }).waitFor();
    await box.fill('');
    await choose(Buffer.from(`\ufeff${table}`, 'utf16le'));
    await page.getByRole('cell', { name: 'José' }).waitFor();
    expect(await page.getByText('is not UTF-8').count()).to.equal(0);

    await page.evaluate(`File.prototype.arrayBuffer = () => Promise.reject(new DOMException('', 'NotReadableError'))`);
    await choose(Buffer.from(table));
    await page.getByText('The file cannot be read.').waitFor();
  });

  it('sends to no number that nobody wrote, and shows to which', async () => {
    const page = await world.dashboard.visit('/dashboard/send/many', sender);
    const table = 'name,phone\nAsha,919876543210.0\nRavi,+44 (0)20 7946 0958\nMira,9.19877E+11\n';
    await page.getByLabel('Recipients', { exact: true }).fill(table);
    await page.getByRole('cell', { name: '919876543210', exact: true }).waitFor();
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('We are open');

    await page.getByRole('button', { name: 'Check' }).click();

    await page.getByText('Recipient 2 (+44 (0)20 7946 0958): Write it as it is dialled from abroad').waitFor();
    await page.getByText('Recipient 3 (9.19877E+11): It is a decimal number').waitFor();
    expect(await page.getByText('Recipient 1').count()).to.equal(0);
    await page.getByLabel('Column with the number').selectOption('name');
    await page.getByRole('cell', { name: '919876543210.0', exact: true }).waitFor();
  });

  it('leaves out no recipient without a word: a slip in the first line, several numbers in one, an open quotation mark', async () => {
    const page = await world.dashboard.visit('/dashboard/send/many', sender);
    const box = page.getByLabel('Recipients', { exact: true });
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('We are open');

    await box.fill('9876 54321x\n919876543210\n');
    await page.getByText('2 recipients').waitFor();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Recipient 1 (987654321x):').waitFor();

    await box.fill('919876543210, 919876543211');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('Row 1 has several numbers.').waitFor();
    expect(await box.getAttribute('aria-invalid')).to.equal('true');
    expect(await world.dashboard.look(page, 'send-many-wrong')).to.deep.equal([]);

    await box.fill('919876543210,"Asha\n919876543211,Ben');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('The quotation mark in line 1 hides lines after it.').waitFor();

    await box.fill('phone,param 1\n919876543210,919876543211');
    await page.getByText('The first line has the names of the columns and gets no message. 1 recipient').waitFor();
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Send for 1 credit' }).waitFor();
  });

  it('the only approved sender is there already, and others are offered', async () => {
    const { db, dashboard } = world;
    const account = await makeAccount(db, 10);
    const make = (name: string, route: Route) =>
      createSender(db, systemClock, { account, sender: name, routes: [route], status: 'approved' });
    await make('456789', 'promotional');
    const own = await signedIn(db, 'sender', account);

    const page = await dashboard.visit('/dashboard/send', own);
    await until(page, `document.querySelector('[name=sender]').value === '456789'`);
    expect(await page.getByLabel('Route').inputValue()).to.equal('promotional');

    await make('HARKRA', 'transactional');
    await page.reload();
    await until(page, `document.querySelectorAll('datalist option').length === 2`);
    expect(await page.getByLabel('Sender').inputValue()).to.equal('');
  });

  it('chat-app: a template with its values and how it will look, a text with buttons', async () => {
    const { db, dashboard, account } = world;
    await makeProvider(db, account);
    await copyTemplates(db, account, TEMPLATES);
    const page = await dashboard.visit('/dashboard/send/chatapp', sender);
    await page.getByLabel('Recipient').fill('+91 98765 43299');
    await page.getByLabel('Template', { exact: true }).selectOption({ label: 'order_update (en_US)' });
    await page.getByLabel('Value 1').fill('Asha');
    await page.getByLabel('Value 2').fill('1234');
    await page.locator('.phone').getByText('Asha').waitFor();
    await page.getByLabel('If it does not arrive').selectOption('sms');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('After seconds').fill('3');
    await page.getByLabel('Text', { exact: true }).fill('Order 1234 has left.');
    await page.getByRole('button', { name: 'Check' }).click();
    await until(page, `document.activeElement.name === 'fallback.after_seconds'`);
    await page.getByLabel('After seconds').fill('3600');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: /^Send for \d credit/ }).waitFor();
    await page.getByText('1 credit, 1 segment').waitFor();
    expect(await dashboard.look(page, 'send-chat')).to.deep.equal([]);
    await page.getByRole('button', { name: /^Send for/ }).click();
    await page.getByRole('link', { name: 'Its timeline' }).waitFor();
    const stored = await db.collection('messages').findOne({ account, to: '919876543299' });
    expect(stored).to.deep.nested.include({ 'content.kind': 'template', 'fallback.sms.sender': 'HARKRA' });
    await page.getByRole('link', { name: 'Its timeline' }).click();
    await page.getByText('an SMS goes at').waitFor();
    await page.goto(new URL('/dashboard/send/chatapp', page.url()).href);

    await wrote(db, account, { customer: '919876543298', body: 'Hello' });
    await page.getByLabel('Recipient').fill('919876543298');
    await page.getByLabel('What', { exact: true }).selectOption('buttons');
    await page.getByLabel('Text', { exact: true }).fill('Do you want it today?');
    await page.getByLabel('Button 1').fill('Yes');
    await page.getByLabel('Button 2').fill('A title that is far longer than a button may have');
    await page.getByRole('button', { name: 'Check' }).click();
    await until(page, `document.activeElement.name === 'buttons[1]'`);
    await page.getByLabel('Button 2').fill('No');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: /^Send for/ }).click();
    await page.getByRole('link', { name: 'Its timeline' }).waitFor();
    const buttons = await db.collection('messages').findOne({ account, to: '919876543298', direction: 'out' });
    expect(buttons?.content.buttons.map(({ title }: { title: string }) => title)).to.deep.equal(['Yes', 'No']);
  });

  it('is not for viewers, whose sends are refused too', async () => {
    const viewer = await signedIn(world.db, 'viewer', world.account);
    const page = await world.dashboard.visit('/dashboard/send', viewer);

    expect(await page.getByRole('button', { name: 'Check' }).count()).to.equal(0);
    expect(await page.getByRole('link', { name: 'Send', exact: true }).count()).to.equal(0);
  });
});
