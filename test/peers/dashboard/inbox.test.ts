import type { Page } from 'playwright-core';
import type { CustomersFile } from '../../../scripts/simulator/provider/files.ts';
import { TEMPLATES } from '../../../scripts/simulator/provider/templates.ts';
import { startProvider } from '../../../scripts/simulator/provider.ts';
import type { ChatMessageDocument } from '../../../shared/messages/document/chat-message.ts';
import { createKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { copyTemplates, makeProvider } from '../../support/chatapp.ts';
import { eventually } from '../../support/eventually.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';
import { openGatewayWithDashboard, until } from './world.ts';

const CUSTOMER = '919876543210';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** From somebody who wants the session of whoever opens it. */
const SCRIPT = '<script xmlns="http://www.w3.org/1999/xhtml">document.title = document.cookie + "ran"</script>';
const SVG = `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`;

describe('the inbox in the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  const provider = use(startProvider);
  let sender: Browser;
  let viewer: Browser;
  before(async () => {
    sender = await signedIn(world.db, 'sender', world.account);
    viewer = await signedIn(world.db, 'viewer', world.account);
    const { phoneNumberId, token } = provider.options;
    await makeProvider(world.db, world.account, { baseUrl: `${provider.url}/v23.0`, phoneNumberId, token });
  });

  it('a customer who writes appears, and is answered', async () => {
    const page = await world.dashboard.visit('/dashboard/inbox', sender);
    await page.getByText('Nobody has written yet.').waitFor();

    await wrote(world.db, world.account, {
      customer: CUSTOMER,
      body: 'Where is <img src=x onerror=alert(1)> my order?',
    });
    await page.getByRole('link', { name: CUSTOMER }).waitFor();
    expect(await world.dashboard.look(page, 'inbox')).to.deep.equal([]);
    await page.getByRole('link', { name: CUSTOMER }).click();
    await page.getByText('Where is <img src=x onerror=alert(1)> my order?').waitFor();
    await page.getByText('Open for 23 h').or(page.getByText('Open for 24 h')).waitFor();

    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.locator('[aria-invalid=true]').waitFor(); // an empty one is refused at its field
    await page.getByLabel('Your answer').fill('It arrives tomorrow.');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.getByRole('main').getByText('It arrives tomorrow.').waitFor();
    expect(await page.getByLabel('Your answer').inputValue()).to.equal('');
    expect(await world.dashboard.look(page, 'conversation')).to.deep.equal([]);
    const stored = await world.db.collection('messages').findOne({ account: world.account, 'content.kind': 'text' });
    expect(stored).to.deep.include({ to: CUSTOMER, direction: 'out' });
  });

  it('outside the session a template is sent, and a viewer has no box', async () => {
    await wrote(world.db, world.account, { customer: '919876543211', body: 'long ago', minutesAgo: 30 * 60 });
    await copyTemplates(world.db, world.account, TEMPLATES);
    const page = await world.dashboard.visit('/dashboard/inbox/919876543211', sender);
    await page.getByText('Closed: templates only').waitFor();
    expect(await page.getByLabel('Your answer').count()).to.equal(0);
    await page.getByLabel('Template').selectOption({ label: 'order_update (en_US)' });
    await page.getByRole('button', { name: 'Send template' }).click();
    await page.locator('[aria-invalid=true]').first().waitFor(); // it has two values
    expect(await world.dashboard.look(page, 'conversation-closed')).to.deep.equal([]);
    await page.getByLabel('Value 1').fill('Asha');
    await page.getByLabel('Value 2').fill('1234');
    await page.getByRole('button', { name: 'Send template' }).click();
    await page.getByText('Template order_update (en_US)').waitFor();

    const other = await world.dashboard.visit(`/dashboard/inbox/${CUSTOMER}`, viewer);
    await other.getByText('my order?').waitFor();
    expect(await other.getByLabel('Your answer').count()).to.equal(0);
  });

  /** What a second click right after a success posts. */
  async function secondClick(page: Page, path: string, button: string, said: string): Promise<number> {
    let posts = 0;
    page.on('request', (asked) => {
      if (asked.url().endsWith(path)) posts++;
    });
    const send = page.getByRole('button', { name: button });
    await send.click();
    await page.getByText(said).waitFor();
    await send.click({ force: true }); // also where it is disabled
    await until(page, `!document.querySelector('form button[type=submit]').disabled`);
    return posts - 1;
  }

  it('a double click sends an answer once, and what one writes meanwhile stays', async () => {
    await wrote(world.db, world.account, { customer: '919876543212', body: 'Hello?' });
    const page = await world.dashboard.visit('/dashboard/inbox/919876543212', sender);
    const box = page.getByLabel('Your answer');
    await box.fill('Yes?');
    await page.route('**/v2/chatapp/send-text', async (route) => {
      await box.fill('How may I help?');
      await route.continue();
    });

    expect(await secondClick(page, '/send-text', 'Send answer', 'Answer sent.')).to.equal(0);
    expect(await box.inputValue()).to.equal('How may I help?');
  });

  it('a double click sends a template once, and its values are gone', async () => {
    await wrote(world.db, world.account, { customer: '919876543213', body: 'long ago', minutesAgo: 30 * 60 });
    const page = await world.dashboard.visit('/dashboard/inbox/919876543213', sender);
    await page.getByLabel('Template').selectOption({ label: 'order_update (en_US)' });
    await page.getByLabel('Value 1').fill('Asha');
    await page.getByLabel('Value 2').fill('1234');

    expect(await secondClick(page, '/chatapp/send', 'Send template', 'Template sent.')).to.equal(0);
    expect(await page.getByLabel('Value 1').inputValue()).to.equal('');
    expect(await world.db.collection('messages').countDocuments({ to: '919876543213', direction: 'out' })).to.equal(1);
  });

  it('a message is quoted, and reacted to; lists and places can be read', async () => {
    await wrote(world.db, world.account, { customer: CUSTOMER, body: 'Where is my parcel?' });
    const place = { type: 'location', location: { latitude: 12.5, longitude: 77.25, name: 'Home' } };
    await wrote(world.db, world.account, { customer: CUSTOMER, body: 'Home', message: place });
    const { key } = await createKey(world.db, systemClock, { account: world.account, name: 'k', scopes: ['send'] });
    const rows = [
      { id: '1', title: 'Express' },
      { id: '2', title: 'Post' },
    ];
    const answer = await fetch(`${world.dashboard.url}/v2/chatapp/send-interactive`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ to: CUSTOMER, type: 'list', body: 'How?', button: 'Choose', sections: [{ rows }] }),
    });
    expect(answer.status, await answer.text()).to.equal(200);
    const page = await world.dashboard.visit(`/dashboard/inbox/${CUSTOMER}`, sender);
    const bubble = (text: string) => page.locator('.bubble').filter({ hasText: text }).first();
    await bubble('Express').waitFor();
    expect(await bubble('Home (12.5, 77.25)').count()).to.equal(1);
    expect(await world.dashboard.look(page, 'conversation-answers')).to.deep.equal([]);

    await bubble('Where is my parcel?').getByRole('button', { name: 'Quote' }).click();
    await page.getByLabel('Your answer').fill('At the depot.');
    await page.getByRole('button', { name: 'Send answer' }).click();
    await page.locator('.bubble.out .quoted').filter({ hasText: 'Where is my parcel?' }).waitFor();
    await bubble('Where is my parcel?').getByRole('button', { name: 'React with 👍' }).click();

    await eventually(async () => {
      const sent = await world.db
        .collection<ChatMessageDocument>('messages')
        .find({ account: world.account, direction: 'out' })
        .sort({ _id: -1 })
        .limit(2)
        .toArray();
      const [reaction, reply] = sent;
      return reaction?.content.kind === 'reaction' && reaction.content.emoji === '👍' && reply?.replyTo !== undefined;
    }, 'both are stored');
  });

  describe('files of customers', () => {
    let page: Page;
    /** The inbox, where the customer has sent this file last. */
    async function sends(file: CustomersFile): Promise<void> {
      await wrote(world.db, world.account, { customer: CUSTOMER, body: '', message: provider.keepsFile(file) });
      page = await world.dashboard.visit(`/dashboard/inbox/${CUSTOMER}`, viewer);
    }
    const link = (type: string) => page.getByRole('link', { name: `Open the ${type}` }).last();

    it('a photo opens in a tab of its own, where it is shown and nobody is signed in', async () => {
      await sends({ type: 'image', mime: 'image/png', content: PNG });
      expect(await world.dashboard.look(page, 'conversation-photo')).to.deep.equal([]);
      const opened = page.context().waitForEvent('page');
      await link('image').click();
      const photo = await opened;

      await until(photo, 'document.images[0]?.naturalWidth === 1');
      expect(await photo.evaluate('self.origin')).to.equal('null');
      expect(await photo.evaluate('(() => { try { return document.cookie } catch (e) { return e.name } })()')).to.equal(
        'SecurityError',
      );
    });

    for (const [mime, text, name] of [
      ['image/svg+xml', SVG, 'logo.svg'],
      ['text/html', `<!doctype html>${SCRIPT}`, 'bill.html'],
      ['application/pdf', '%PDF-1.7', 'bill.pdf'],
    ] as const) {
      it(`${name} is stored, not opened`, async () => {
        await sends({ type: 'document', mime, content: Buffer.from(text), name });
        // Its own tab closes when the download begins, without an event.
        await link('document').waitFor();
        await page.evaluate(`[...document.querySelectorAll('.bubble a')].at(-1).removeAttribute('target')`);
        const stored = page.waitForEvent('download');
        await link('document').click();

        expect((await stored).suggestedFilename()).to.equal(name);
        expect(await page.title()).to.not.contain('ran');
      });
    }

    it('a page that is sent as a photo is no page', async () => {
      await sends({ type: 'image', mime: 'image/jpeg', content: Buffer.from(`<!doctype html>${SCRIPT}`) });
      const opened = page.context().waitForEvent('page');
      await link('image').click();
      const photo = await opened;
      await photo.waitForLoadState();

      expect(await photo.title()).to.not.contain('ran');
      expect(await photo.evaluate('document.contentType')).to.equal('image/jpeg');
    });
  });
});
