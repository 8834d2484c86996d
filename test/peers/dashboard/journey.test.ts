import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { NpmStart, START_MS, STOP_MS } from '../../support/npm-start.ts';
import { type DashboardWorld, openDashboard } from './world.ts';

/** Carriers, providers and receivers of `npm start` answer within seconds. */
const SOON = { timeout: 60_000 };

/** A newcomer's way from the printed link to a key, a registered webhook and an approved template. */
describe('the dashboard of npm start', function () {
  this.timeout(START_MS + STOP_MS + 120_000);
  let folder: string;
  let run: NpmStart;
  let dashboard: DashboardWorld;
  let page: Page;
  let key: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'harkara-journey-'));
    run = await (await NpmStart.begin(folder)).ready();
    dashboard = await openDashboard(/Dashboard\s+(http:\S+)\/dashboard/.exec(run.out)?.[1] ?? '');
  });
  after(async () => {
    await run.end();
    rmSync(folder, { recursive: true, force: true });
    await dashboard.close();
  });

  it('the printed link, a password, and one is in', async () => {
    const link = /(http:\S+\/dashboard)(\/link#\S+)/.exec(run.out)?.[2] ?? '';
    page = await dashboard.visit(`/dashboard${link}`);
    await page.getByLabel('Password', { exact: true }).fill('a walk by the river');
    await page.getByRole('button', { name: 'Set password' }).click();

    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    expect(page.url()).not.to.include('#');
  });

  it('a key, shown once, with which a program sends', async () => {
    await page.getByRole('link', { name: 'API keys' }).first().click();
    await page.getByRole('button', { name: 'Create key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Shop');
    await dialog.getByRole('button', { name: 'Create key' }).click();
    key = await takeSecret();

    const answer = await fetch(`${dashboard.url}/v2/send`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to: '919876543210', message: 'Your order has left.', sender: 'HARKRA' }),
    });

    expect([answer.status, await answer.text()]).to.have.property('0', 200);
  });

  it('a webhook that is told: a test event, and then what became of a message sent from here', async () => {
    const receiver = /shown below and on (http:\S+?)\/?\s/.exec(run.out)?.[1] ?? '';
    await page.getByRole('link', { name: 'Webhooks' }).first().click();
    await page.getByRole('button', { name: 'Add webhook' }).first().click();
    await page.getByLabel('Address').fill(`${receiver}/journey`);
    await page.getByRole('dialog').getByRole('button', { name: 'Add webhook' }).click();
    expect(await takeSecret()).to.match(/^whsec_/);
    await page.getByRole('link', { name: `${receiver}/journey` }).click();
    await page.getByRole('button', { name: 'Send test event' }).click();
    await page.getByRole('button', { name: 'Send test', exact: true }).click();
    await page.getByText(/Your server (acknowledged|answered)/).waitFor(SOON);
    await page.keyboard.press('Escape');

    await page.getByRole('link', { name: 'Send', exact: true }).first().click();
    await page.getByLabel('Recipient').fill('+91 98765 43210');
    await page.getByLabel('Sender').fill('HARKRA');
    await page.getByLabel('Text').fill('Hello from the dashboard');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByRole('button', { name: 'Send for 1 credit' }).click();
    await page.getByText('delivered').first().waitFor(SOON);
    await page.getByRole('link', { name: 'Its timeline' }).click();
    await page.getByRole('heading', { level: 1, name: 'Message' }).waitFor();

    await page.getByRole('link', { name: 'Webhooks' }).first().click();
    await page.getByRole('link', { name: `${receiver}/journey` }).click();
    await page.getByRole('button', { name: 'message.delivered' }).first().waitFor(SOON);
  });

  it('a template: requested, approved by the provider, and sent with the key', async () => {
    await page.getByRole('link', { name: 'Templates' }).first().click();
    await page.getByRole('link', { name: 'Chat-app' }).click();
    await page.getByRole('button', { name: 'Request template' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('order_left');
    await dialog.getByLabel('Body').fill('Hello {{1}}, your order has left.');
    await dialog.getByLabel('Example of {{1}}').fill('Asha');
    await dialog.getByRole('button', { name: 'Request template' }).click();
    await page.getByText('The review usually takes 24 to 48 hours').first().waitFor();

    const row = page.getByRole('row').filter({ hasText: 'order_left' });
    await row.getByText('Approved').waitFor(SOON); // by the stream, without a reload
    const answer = await fetch(`${dashboard.url}/v2/chatapp/send`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ to: '919876543210', template: 'order_left', language: 'en', params: ['Asha'] }),
    });

    expect([answer.status, await answer.text()]).to.have.property('0', 200);
  });

  /** Reads a secret from its dialog, confirms that it is stored, and closes the dialog. */
  async function takeSecret(): Promise<string> {
    const dialog = page.getByRole('dialog').filter({ hasText: 'I have stored it' });
    const text = (await dialog.locator('.secret code').textContent()) ?? '';
    await dialog.getByLabel('I have stored it').check();
    await dialog.locator('.dialog-actions').getByRole('button', { name: 'Close' }).click();
    await dialog.waitFor({ state: 'detached' });
    return text;
  }
});
