import type { Page } from 'playwright-core';
import type { CustomersFile } from '../../../scripts/simulator/provider/media.ts';
import { startProvider } from '../../../scripts/simulator/provider.ts';
import { makeProvider } from '../../support/chatapp.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { wrote } from '../../support/wrote.ts';
import { openGatewayWithDashboard, until } from './world.ts';

const CUSTOMER = '919876543210';
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
/** Written by somebody who wants the session of whoever opens it. */
const SCRIPT = '<script xmlns="http://www.w3.org/1999/xhtml">document.title = document.cookie + "ran"</script>';
const SVG = `<svg xmlns="http://www.w3.org/2000/svg">${SCRIPT}</svg>`;

describe('files of customers in the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  const provider = use(startProvider);
  let page: Page;
  before(async () => {
    const { phoneNumberId, token } = provider.options;
    await makeProvider(world.db, world.account, { baseUrl: `${provider.url}/v23.0`, phoneNumberId, token });
  });

  /** The inbox, where the customer has sent this file last. */
  async function sends(file: CustomersFile): Promise<void> {
    await wrote(world.db, world.account, { customer: CUSTOMER, body: '', message: provider.keepsFile(file) });
    page = await world.dashboard.visit(
      `/dashboard/inbox/${CUSTOMER}`,
      await signedIn(world.db, 'viewer', world.account),
    );
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
      // In a tab of its own, which closes when the download begins, nobody hears of it.
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
