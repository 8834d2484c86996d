import type { Page } from 'playwright-core';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard, until } from './world.ts';

/** ASVS 5.0, 6.2.6 and 6.2.7: passwords are hidden as one types, password managers may fill them in, and pasting is allowed. */
describe('fields for passwords in the browser', () => {
  const world = use(openGatewayWithDashboard);

  async function expectGood(page: Page, autocomplete: string): Promise<void> {
    const field = page.locator(`input[autocomplete="${autocomplete}"]`).first();
    expect(await field.getAttribute('type')).to.equal('password');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(`navigator.clipboard.writeText('a walk by the river')`);
    await field.focus();
    await page.keyboard.press('Control+v');
    await until(page, `document.activeElement.value === 'a walk by the river'`);
  }

  it('at the sign-in, whose name a manager finds too', async () => {
    const page = await world.dashboard.visit('/dashboard');

    expect(await page.locator('input[autocomplete="username"]').count()).to.equal(1);
    await expectGood(page, 'current-password');
  });

  it('at the change of a password: the old one and the new one', async () => {
    const owner = await signedIn(world.db, 'owner', world.account);
    const page = await world.dashboard.visit('/dashboard/profile', owner);
    await page.getByRole('button', { name: 'Change password' }).click();

    await expectGood(page, 'current-password');
    await expectGood(page, 'new-password');
  });
});
