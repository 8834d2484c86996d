import { hash } from '@node-rs/argon2';
import type { Page } from 'playwright-core';
import { topUp } from '../../../shared/money/ledger/change.ts';
import { endSessions } from '../../../shared/people/users/store.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

const PASSWORD = 'lamp orchard twelve rivers';

describe('a page of the dashboard that moves by itself', () => {
  const world = use(() => openGatewayWithDashboard({ beatMs: 200 }));

  async function viewer(name: string): Promise<Browser> {
    const user = { username: `${name}@example.com`, password: await hash(PASSWORD), totp: undefined } as never;
    return signedIn(world.db, 'viewer', world.account, { user });
  }

  const balance = (page: Page, text: string) => page.getByText(text, { exact: true }).first().waitFor();

  async function signInAgain(page: Page): Promise<void> {
    const asked = page.getByRole('dialog', { name: 'Your session has ended' });
    await asked.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await asked.getByRole('button', { name: 'Sign in', exact: true }).click();
    await asked.waitFor({ state: 'detached' });
  }

  it('asks to sign in when its session ended while nobody looked at it', async () => {
    const { db, dashboard } = world;
    const away = await viewer('away');
    const page = await dashboard.visit('/dashboard/profile', away);
    const opened = page.waitForResponse('**/v2/account/stream?*');
    await page.getByRole('link', { name: 'Credits' }).click();
    await opened;
    const closed = page.waitForEvent('requestfailed', (request) => request.url().includes('/v2/account/stream?'));
    await setHidden(page, true);
    await closed;
    await endSessions(db, away.user._id);

    await setHidden(page, false);

    await signInAgain(page);
  });

  it('says that it is not live while its stream is refused', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/profile', await viewer('proxied'));
    await page.route('**/v2/account/stream?*', (route) => route.fulfill({ status: 502 }));
    await page.getByRole('link', { name: 'Credits' }).click();
    await balance(page, '4,200');

    await page.getByRole('alert').getByText('not live').waitFor();
    expect(await dashboard.look(page, 'not-live', ['phone', 'wide-dark'])).to.deep.equal([]);
    await page.unroute('**/v2/account/stream?*');
    // The pause between its tries has grown, to a minute at most.
    await page.getByRole('alert').waitFor({ state: 'detached', timeout: 120_000 });
  });

  it('asks to sign in when its session has ended, and then goes on', async () => {
    const { db, account, dashboard } = world;
    const looking = await viewer('looking');
    const page = await dashboard.visit('/dashboard/credits', looking);
    await balance(page, '4,200');

    await endSessions(db, looking.user._id);
    await signInAgain(page);

    await topUp(db, account, 800, 'live');
    await balance(page, '5,000');
  });
});

/** As a browser does when somebody changes tabs. */
async function setHidden(page: Page, isHidden: boolean): Promise<void> {
  await page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'))`);
}
