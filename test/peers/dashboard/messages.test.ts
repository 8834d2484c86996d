import type { Page } from 'playwright-core';
import type { MessageDocument } from '../../../shared/messages/document/message.ts';
import { batchMessageIds } from '../../../shared/platform/runtime/ids.ts';
import { makeBatch, payBatch } from '../../support/batches.ts';
import { makeMessage } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

const TO = '447700900123';

describe('messages, batches and schedules in the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let sender: Browser;
  before(async () => {
    sender = await signedIn(world.db, 'sender', world.account);
  });

  const insert = async (...messages: Partial<MessageDocument>[]): Promise<MessageDocument[]> => {
    const made = messages.map((one) => makeMessage({ account: world.account, ...one }));
    await world.db.collection<MessageDocument>('messages').insertMany(made);
    return made;
  };
  const rows = (page: Page) => page.locator('tbody tr');

  it('finds a number however it is written, keeps the filter in the address, and clears it', async () => {
    await insert({ to: TO, state: 'failed', errorReason: 'The number does not exist', errorCode: '1' }, {}, {});
    const page = await world.dashboard.visit('/dashboard/messages', sender);
    await rows(page).nth(2).waitFor();

    await page.getByLabel('Recipient or message id').fill('+44 7700 900-123');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/dashboard/messages?to=${TO}`);
    await page.getByRole('link', { name: TO }).waitFor();
    expect(await rows(page).count()).to.equal(1);

    await page.getByLabel('Status').selectOption('delivered');
    await page.getByText('No results for this filter.').waitFor();
    await page.getByRole('button', { name: 'Clear filter' }).first().click();
    await rows(page).nth(2).waitFor();
  });

  it('says why a message did not arrive, and what to do', async () => {
    const [failed] = await insert({ state: 'failed', errorReason: 'The number does not exist', errorCode: '1' });
    const page = await world.dashboard.visit('/dashboard/messages', sender);

    await page.getByLabel('Recipient or message id').fill(failed?._id ?? '');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Message' }).waitFor();

    await page.getByText('Remove the number from your list, or ask the recipient for the right one.').waitFor();
    await page.getByText('Accepted', { exact: true }).first().waitFor();
  });

  it('shows a batch, who got nothing of it as a file, and stops it when asked twice', async () => {
    const batch = makeBatch(world.account, 3, { reference: 'spring' });
    await payBatch(world.db, batch);
    const idOf = batchMessageIds(batch._id);
    await insert({ _id: idOf(0), batch: batch._id, to: TO, state: 'failed', errorReason: 'The phone is busy' });
    const page = await world.dashboard.visit('/dashboard/batches', sender);

    await page.getByRole('link', { name: 'spring' }).click();
    await page.getByRole('heading', { level: 1, name: 'Batch' }).waitFor();
    await page.getByRole('link', { name: TO }).waitFor();
    const file = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download as CSV' }).click();
    expect((await file).suggestedFilename()).to.equal(`${batch._id}-failures.csv`);

    await page.getByRole('button', { name: 'Stop batch' }).click();
    await page.getByRole('dialog').getByText('cannot be called back').waitFor();
    expect(await world.dashboard.look(page, 'batch-stop')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByRole('dialog').count()).to.equal(0);
  });

  it('a viewer sees everything and can stop nothing', async () => {
    const viewer = await signedIn(world.db, 'viewer', world.account);
    const batch = makeBatch(world.account, 3);
    await payBatch(world.db, batch);
    const page = await world.dashboard.visit(`/dashboard/batches/${batch._id}`, viewer);

    await page.getByText('processing').first().waitFor();
    expect(await page.getByRole('button', { name: 'Stop batch' }).count()).to.equal(0);
    await page.goto(`${world.dashboard.url}/dashboard/schedules`);
    await page.getByText('Nothing waits for its time.').waitFor();
    expect(await page.getByRole('link', { name: 'Schedule a message' }).count()).to.equal(0);
  });
});
