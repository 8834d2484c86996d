import type { Page, Response } from 'playwright-core';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { batchMessageIds, newId } from '../../../shared/platform/runtime/ids.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { makeMessage } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

/** The stream covers an account's newest 20 messages only. */
describe('what is not among the newest messages, followed in the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let viewer: Browser;
  before(async () => {
    viewer = await signedIn(world.db, 'viewer', world.account);
  });

  const messages = () => world.db.collection<MessageDocument>('messages');

  /** As many later messages as the stream covers. */
  async function sendLater(): Promise<void> {
    const later = Array.from({ length: 20 }, () => newId('msg', Date.now() + 1_000));
    await messages().insertMany(later.map((_id) => makeMessage({ _id, account: world.account })));
  }

  /** Waits for an answer about `id` that the page requested by itself; by then the first state is shown. */
  const readAgain = (page: Page, id: string) =>
    page.waitForResponse(
      (answer: Response) => answer.url().endsWith(id) && answer.request().headers()['x-dashboard-auto'] === '1',
    );

  it('a batch: its counts move while it leaves, and when receipts come', async () => {
    const { db, account, dashboard } = world;
    const batch = makeBatch(account, 2);
    await payBatch(db, batch);
    const [first, second] = [0, 1].map(batchMessageIds(batch._id)) as [MessageDocument['_id'], MessageDocument['_id']];
    await messages().insertMany([first, second].map((_id) => makeMessage({ _id, account, batch: batch._id })));
    await sendLater();
    const page = await dashboard.visit(`/dashboard/batches/${batch._id}`, viewer);
    const counted = (count: number, name: string) =>
      page.locator('.stat', { hasText: name }).getByText(String(count), { exact: true }).waitFor();
    await counted(2, 'queued');
    await readAgain(page, batch._id);

    await messages().updateOne({ _id: first }, { $set: { state: 'failed', errorReason: 'The phone is busy' } });
    await counted(1, 'failed');
    await page.getByText('The phone is busy').waitFor();
    await messages().updateOne({ _id: second }, { $set: { state: 'sent' } });
    await counted(1, 'sent');
    await page.getByText('finished', { exact: true }).waitFor();
    await messages().updateOne({ _id: second }, { $set: { state: 'delivered' } });
    await counted(1, 'delivered');
  });

  it('one message: its page shows the end of it', async () => {
    const { account, dashboard } = world;
    const message = makeMessage({ account });
    await messages().insertOne(message);
    await sendLater();
    const page = await dashboard.visit(`/dashboard/messages/${message._id}`, viewer);
    await page.getByText('queued', { exact: true }).first().waitFor();

    await messages().updateOne({ _id: message._id }, { $set: { state: 'delivered' } });
    await page.getByText('delivered', { exact: true }).first().waitFor();
  });

  it('a message that was just sent: who looks at "queued" for good sends it again', async () => {
    const { db, account, dashboard } = world;
    const page = await dashboard.visit('/dashboard/send', await signedIn(db, 'sender', account));
    await page.getByLabel('Recipient').fill('919876543210');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('We are open');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Send for 1 credit' }).click();
    await page.getByText('queued', { exact: true }).waitFor();
    await sendLater();

    await messages().updateOne({ account, text: 'We are open' }, { $set: { state: 'delivered' } });
    await page.getByText('delivered', { exact: true }).waitFor();
  });
});
