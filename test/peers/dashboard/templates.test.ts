import type { Page } from 'playwright-core';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { createTemplate, decideTemplate, findTemplate } from '../../../shared/templates/sms/store.ts';
import { makeTemplate } from '../../shared/templates/sms/make.ts';
import { builtDashboard } from '../../support/dashboard.ts';
import { eventually } from '../../support/eventually.ts';
import { signedIn } from '../../support/signed-in.ts';
import { TemplateWorld } from '../../workers/chatapp/template-world.ts';
import { chatWorld } from '../../workers/chatapp/world.ts';
import { type DashboardWorld, openDashboard } from './world.ts';

const ID = '1107160000000012345';
const SMS = '/dashboard/templates';
const CHATAPP = '/dashboard/templates/chatapp';

describe('the dashboard: templates', () => {
  const world = chatWorld();
  let site: TemplateWorld;
  let dashboard: DashboardWorld;
  before(() => builtDashboard());
  beforeEach(async () => {
    site = await TemplateWorld.open(world, 3_000);
    dashboard = await openDashboard(site.url);
  });
  afterEach(async () => {
    await dashboard.close();
    await site.close();
  });

  const db = () => world.store.db;
  const developer = () => signedIn(db(), 'developer', site.account);
  const decide = (status: 'approved' | 'rejected', reason?: string) =>
    decideTemplate(db(), systemClock, site.account, ID, status, reason);
  const rowOf = (page: Page, text: string) => page.locator('tbody tr', { hasText: text });

  it('a DLT template is requested, gets its id, is rejected, edited and approved', async () => {
    const page = await dashboard.visit(SMS, await developer());
    await page.getByText('No templates yet').waitFor();
    await page.getByRole('button', { name: 'Request template' }).first().click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Text').fill('Your code is {#VAR#}.');
    await form.getByText('capitals count').waitFor();
    await form.getByRole('button', { name: 'Request template' }).click();
    await form.getByText('Correct the').waitFor();
    expect(await dashboard.look(page, 'templates-wrong')).to.deep.equal([]);
    await form.getByLabel('Senders').fill('HARKRA');
    await form.getByLabel('Text').fill('Your code is {#var#}.');
    await form.getByText('GSM7 · 1 segment · 1 slot').waitFor();
    await form.getByLabel('Name').fill('Login code');
    await form.getByRole('button', { name: 'Request template' }).click();

    await page.getByText('Waits for its DLT id', { exact: true }).last().waitFor();
    await page.getByRole('button', { name: 'Login code' }).click();
    await page.getByLabel('DLT template id').fill(ID);
    await page.getByRole('button', { name: 'Add DLT id' }).click();
    await rowOf(page, 'Login code').getByText('In review').waitFor();

    await decide('rejected', 'The header is not yours.');
    await page.reload();
    await rowOf(page, 'Login code').getByText('The header is not yours.').waitFor();
    await page.getByRole('button', { name: 'Login code' }).click();
    expect(await dashboard.look(page, 'templates-rejected')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    await page.getByLabel('Text').fill('Your login code is {#var#}.');
    await page.getByRole('button', { name: 'Edit and resend' }).click();
    await rowOf(page, 'Login code').getByText('In review').waitFor();
    await decide('approved');
    await page.reload();
    await rowOf(page, 'Login code').getByText('Approved').waitFor();
  });

  it('an export is shown before it is imported, with the rows that are bad', async () => {
    const page = await dashboard.visit(SMS, await developer());
    await page.getByRole('button', { name: 'Import DLT export' }).click();
    const csv = `id,header,content\n${ID},HARKRA,Bye {#var#}\n12,HARKRA,short\n`;
    const file = { name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
    await page.getByLabel('CSV file').setInputFiles(file);
    await page.getByText('1 new, 0 known already, 1 bad rows').waitFor();
    expect(await dashboard.look(page, 'templates-import')).to.deep.equal([]);

    await page.getByRole('button', { name: 'Request 1 template' }).click();

    await rowOf(page, ID).getByText('In review').waitFor();
  });

  it('an export whose bytes do not tell their encoding is read as one says', async () => {
    const page = await dashboard.visit(SMS, await developer());
    await page.getByRole('button', { name: 'Import DLT export' }).click();
    const buffer = Buffer.from(`id,header,content\n${ID},HARKRA,Café {#var#}\n`, 'latin1');
    await page.getByLabel('CSV file').setInputFiles({ name: 'export.csv', mimeType: 'text/csv', buffer });
    await page.getByText('is not UTF-8').waitFor();
    expect(await dashboard.look(page, 'templates-import-encoding')).to.deep.equal([]);

    await page.getByRole('button', { name: 'Read it as Windows-1252' }).click();
    await page.getByText('1 new, 0 known already').waitFor();
    await page.getByRole('button', { name: 'Request 1 template' }).click();

    await rowOf(page, ID).getByText('In review').waitFor();
    const stored = await findTemplate(db(), site.account, ID);
    expect(stored?.content).to.equal('Café {#var#}');
  });

  it('an export that says something else is shown with old and new, and changes only what one ticks', async () => {
    const blacklisted = makeTemplate({ dltId: ID, content: 'Bye {#var#}' });
    await createTemplate(db(), systemClock, site.account, blacklisted);
    const page = await dashboard.visit(SMS, await developer());
    await rowOf(page, ID).getByText('Approved').waitFor();
    await page.getByRole('button', { name: 'Import DLT export' }).click();
    const csv = `id,header,content,status\n${ID},HARKRA,Good bye {#var#},Blacklisted\n`;
    const file = { name: 'export.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) };
    await page.getByLabel('CSV file').setInputFiles(file);
    await page.getByText('1 template of the file may be sent no more').waitFor();
    await page.getByText('Good bye {#var#}').waitFor();
    expect(await page.getByRole('button', { name: 'Request 0 templates' }).isDisabled()).to.equal(true);
    expect(await dashboard.look(page, 'templates-import-again')).to.deep.equal([]);

    await page.getByLabel('Change 1 registered template too').check();
    await page.getByRole('button', { name: 'Change 1 template', exact: true }).click();

    await rowOf(page, ID).getByText('Rejected').waitFor();
  });

  it('a chat-app template is requested, approved by the provider, and sent', async () => {
    await world.startWorker();
    const page = await dashboard.visit(CHATAPP, await developer());
    await rowOf(page, 'welcome').waitFor();
    await page.getByRole('button', { name: 'Request template' }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel('Name').fill('order_left');
    await form.getByLabel('Body').fill('Hello {{1}}');
    await form.getByRole('button', { name: 'Request template' }).click();
    await form.getByText('It must not begin or end with a variable').waitFor();
    expect(await dashboard.look(page, 'chat-templates-wrong')).to.deep.equal([]);
    await form.getByLabel('Body').fill('Hello {{1}}, your order has left.');
    await form.getByLabel('Example of {{1}}').fill('Asha');
    await form.getByText('Hello Asha, your order has left.').waitFor();
    await form.getByRole('button', { name: 'Add button' }).click();
    await form.getByLabel('Label').fill('Where is it?');
    expect(await dashboard.look(page, 'chat-templates-form')).to.deep.equal([]);
    await form.getByRole('button', { name: 'Request template' }).click();
    await rowOf(page, 'order_left').getByText('usually 24 to 48 hours').waitFor();

    // By the stream, without a reload.
    await rowOf(page, 'order_left').getByText('Approved').waitFor({ timeout: 30_000 });

    expect(await dashboard.look(page, 'chat-templates')).to.deep.equal([]);
    const sent = { to: '919876543210', template: 'order_left', language: 'en', params: ['Asha'] };
    await site.call('post', '/v2/chatapp/send', sent).expect(200);
    await eventually(() => site.provider.taken().length === 1, 'it is sent');
  });

  it('a viewer sees them and cannot ask; another account sees none of them', async () => {
    await site.ask('order_left').expect(200);
    const viewer = await dashboard.visit(CHATAPP, await signedIn(db(), 'viewer', site.account));
    await rowOf(viewer, 'order_left').waitFor();

    expect(await viewer.getByRole('button', { name: 'Request template' }).count()).to.equal(0);
    await viewer.getByRole('button', { name: 'order_left' }).click();
    await viewer.getByText('Being handed in').last().waitFor();
    expect(await viewer.getByRole('button', { name: 'Delete template' }).count()).to.equal(0);
  });
});
