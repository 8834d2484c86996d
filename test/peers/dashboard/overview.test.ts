import type { Request } from 'playwright-core';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { topUp } from '../../../shared/money/ledger/change.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { newId } from '../../../shared/platform/runtime/ids.ts';
import { HourCounter } from '../../../workers/maintenance/count-hours.ts';
import { makeMessage } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { LOOKS } from './access.ts';
import { openGatewayWithDashboard } from './world.ts';

const HOUR_MS = 3_600_000;

interface Step {
  readonly at: string;
  readonly total: number;
}

const utcDay = (at: string): string =>
  new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });

describe('overview and credits in the dashboard', () => {
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

    const file = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as CSV' }).click();
    expect((await file).suggestedFilename()).to.equal('statement.csv');
    expect((await file).url()).to.include(`user=${viewer.user._id}`);
    await page.getByLabel('What for').selectOption('refund');
    await page.getByText('No results for this filter.').waitFor();
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
});
