import type { Page, Request } from 'playwright-core';
import { TEMPLATES } from '../../../scripts/simulator/provider/demo-templates.ts';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { recordInbound } from '../../../shared/money/conversations/store.ts';
import { topUp } from '../../../shared/money/ledger/change.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { HourCounter } from '../../../workers/maintenance/statistics/count-hours.ts';
import { copyTemplates, makeProvider, NUMBER } from '../../support/chatapp.ts';
import { makeMessage } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';
import { LOOKS } from './access.ts';
import { openGatewayWithDashboard, until } from './world.ts';

const CUSTOMER = '919876543210';
const HOUR_MS = 3_600_000;

interface Step {
  readonly at: string;
  readonly total: number;
}

const utcDay = (at: string): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

describe('overview, credits and inbox in the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let sender: Browser;
  let viewer: Browser;
  before(async () => {
    sender = await signedIn(world.db, 'sender', world.account);
    viewer = await signedIn(world.db, 'viewer', world.account);
  });

  const count = () => new HourCounter({ db: world.db, clock: systemClock, messageDays: 90, held: () => true }).run();

  it('an account without messages is told how to begin', async () => {
    const page = await world.dashboard.visit('/dashboard', sender);

    await page.getByRole('heading', { name: 'Begin here' }).waitFor();
    await page.getByRole('link', { name: 'Create an API key' }).waitFor();
    await page.getByText('No messages in this period.').waitFor();
    expect(await world.dashboard.look(page, 'overview-empty')).to.deep.equal([]);
  });

  it('the balance moves while one looks', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', viewer);
    await page.getByText('4,200', { exact: true }).first().waitFor();

    await topUp(world.db, world.account, 800, 'live');

    await page.getByText('5,000', { exact: true }).first().waitFor();
  });

  it('numbers of a period, as a plot and as a table, lead to the lists that they count', async () => {
    const at = Date.now();
    const made = Array.from({ length: 40 }, (_, n): MessageDocument => {
      const sent = new Date(at - (n % 20) * HOUR_MS);
      const history = [
        { state: 'sent' as const, at: sent },
        { state: 'delivered' as const, at: new Date(sent.getTime() + 3_000) },
      ];
      const base = { _id: newId('msg', sent.getTime()), account: world.account, operator: 'alpha', history };
      const { due: __, ...message } = makeMessage(
        n % 10 === 0
          ? { ...base, state: n === 0 ? 'failed' : 'expired', errorCode: 'validity_expired' }
          : { ...base, state: 'delivered' },
      );
      return message;
    });
    await world.db.collection<MessageDocument>('messages').insertMany(made);
    await count();
    const page = await world.dashboard.visit('/dashboard', viewer);

    await page.getByText('90 % of those that ended').waitFor();
    await page.getByRole('cell', { name: 'alpha' }).waitFor();
    await page.getByText('validity_expired').waitFor();
    expect(await world.dashboard.look(page, 'overview')).to.deep.equal([]);
    await page.getByText('As a table').click();
    expect(await world.dashboard.look(page, 'overview-table')).to.deep.equal([]);
    await page.getByRole('link', { name: '30 days' }).click();
    await page.waitForURL('**/dashboard?period=30d');
    await page.getByRole('link', { name: '3 expired' }).click();
    await page.waitForURL('**/dashboard/messages?state=expired**');
    await page.locator('tbody tr').nth(2).waitFor();
    expect(await page.locator('tbody tr').count()).to.equal(3);
  });

  it('days are those of UTC, also in New York', async () => {
    const page = await world.dashboard.visit('/dashboard', viewer, LOOKS.wide, { timezoneId: 'America/New_York' });
    const counted = page.waitForResponse('**/v2/account/statistics?period=30d');
    await page.getByRole('link', { name: '30 days' }).click();
    const { series } = await (await counted).json();
    const top = series.toSorted((a: Step, b: Step) => b.total - a.total)[0];

    await page.getByText(`Peak ${top.total} on ${utcDay(top.at)}.`).waitFor();
    await page.getByText('Days are those of UTC.').waitFor();
    await page.getByText('As a table').click();
    const last = page.getByRole('region', { name: 'Messages by status' }).getByRole('row').last();
    expect(await last.getByRole('cell').first().textContent()).to.equal(utcDay(series.at(-1).at));
  });

  it('the statement says what each line was for, by kind, and as a file', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', viewer);
    await page.getByText('Top-up live').waitFor();
    expect(await world.dashboard.look(page, 'credits')).to.deep.equal([]);

    const file = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as CSV' }).click();
    expect((await file).suggestedFilename()).to.equal('statement.csv');
    expect((await file).url()).to.include(`user=${viewer.user._id}`);
    await page.getByLabel('What for').selectOption('refund');
    await page.getByText('No results for this filter.').waitFor();
  });

  it('a customer who writes appears, and is answered', async () => {
    await makeProvider(world.db, world.account);
    const page = await world.dashboard.visit('/dashboard/inbox', sender);
    await page.getByText('Nobody has written yet.').waitFor();
    expect(await world.dashboard.look(page, 'inbox-empty')).to.deep.equal([]);

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

  /** What a second click posts that follows the success of the first one. */
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

  it('a page that reads again because of news says that nobody asked for it', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', viewer);
    const list = (asked: Request) => asked.url().endsWith('/v2/account/inbox');
    const byUser = page.waitForRequest(list);
    const byNews = page.waitForRequest((asked) => list(asked) && asked.headers()['x-dashboard-auto'] === '1');
    await page.getByRole('link', { name: 'Inbox' }).click();

    expect((await byUser).headers())
      .to.include({ 'x-dashboard': '1' })
      .and.not.have.property('x-dashboard-auto');
    await byNews;
  });

  it("another account's customer is unknown; SMS have a page of their own", async () => {
    const at = new Date();
    await recordInbound(world.db, [{ account: newId('acc'), customer: '919876549999', number: NUMBER, at }]);
    const page = await world.dashboard.visit('/dashboard/inbox/919876549999', sender);
    await page.getByText('the account has no exchange with this customer').waitFor();

    await page.goto(`${world.dashboard.url}/dashboard/inbox/sms`);
    await page.getByText('No SMS yet.').waitFor();
    expect(await world.dashboard.look(page, 'received-sms-empty')).to.deep.equal([]);
  });
});
