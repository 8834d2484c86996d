import { hash } from '@node-rs/argon2';
import { generate } from 'otplib';
import type { Page } from 'playwright-core';
import { endSessions, findUser } from '../../../shared/people/users/store.ts';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import type { UserId } from '../../../shared/platform/runtime/ids.ts';
import { makeAccount } from '../../support/make.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard, until } from './world.ts';

const PASSWORD = 'lamp orchard twelve rivers';

describe('people on the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let owner: Browser;
  before(async () => {
    owner = await signedIn(world.db, 'owner', world.account, { user: { name: 'Asha' } });
  });

  async function expectGood(page: Page, autocomplete: string): Promise<void> {
    const field = page.locator(`input[autocomplete="${autocomplete}"]`).first();
    expect(await field.getAttribute('type')).to.equal('password');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.evaluate(`navigator.clipboard.writeText('a walk by the river')`);
    await field.focus();
    await page.keyboard.press('Control+v');
    await until(page, `document.activeElement.value === 'a walk by the river'`);
  }

  it('shows nobody anything but the way in, and opens the asked page after it', async () => {
    const { db, account, dashboard } = world;
    const { user } = await signedIn(db, 'viewer', account, {
      user: { username: 'entering@example.com', password: await hash(PASSWORD) },
    });
    await db.collection<UserDocument>('users').updateOne({ _id: user._id }, { $unset: { totp: '' } });
    const page = await dashboard.visit('/dashboard/credits');
    expect(await page.title()).to.equal('Sign in · Harkara');
    expect(await dashboard.look(page, 'sign-in')).to.deep.equal([]);

    await page.getByLabel('Sign-in name').fill(user.username);
    await page.getByLabel('Password').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('Name or password is wrong').waitFor();
    expect(await dashboard.look(page, 'sign-in-failed')).to.deep.equal([]);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Credits' }).waitFor();
  });

  it('5.0, 6.2.6, 6.2.7 (ASVS): a password is hidden, filled in by managers and pasted at the sign-in, whose name a manager finds too', async () => {
    const page = await world.dashboard.visit('/dashboard');

    expect(await page.locator('input[autocomplete="username"]').count()).to.equal(1);
    await expectGood(page, 'current-password');
  });

  it('and at the change of a password: the old one and the new one', async () => {
    const page = await world.dashboard.visit('/dashboard/profile', owner);
    await page.getByRole('button', { name: 'Change password' }).click();

    await expectGood(page, 'current-password');
    await expectGood(page, 'new-password');
  });

  it('an owner invites an owner, who chooses a password, sets up an app, and signs in with its codes', async () => {
    const { dashboard } = world;
    const page = await dashboard.visit('/dashboard/users', owner);
    await page.getByRole('button', { name: 'Invite somebody' }).click();
    await page.getByLabel('Sign-in name').fill('no');
    await page.getByRole('button', { name: 'Make invitation' }).click();
    await page.getByText('Correct the marked field.').waitFor();
    await until(page, `document.activeElement.name === 'username'`);
    expect(await dashboard.look(page, 'invite')).to.deep.equal([]);
    await page.getByLabel('Sign-in name').fill('ravi@example.com');
    await page.getByLabel('Role').selectOption('owner');
    await page.getByRole('button', { name: 'Make invitation' }).click();
    const link = await page.getByRole('dialog', { name: 'Invitation' }).locator('code').textContent();
    expect(await dashboard.look(page, 'invitation')).to.deep.equal([]);

    const invited = await dashboard.visit(new URL(link ?? '').pathname + new URL(link ?? '').hash);
    await invited.getByText('You are invited to Asha Traders.').waitFor();
    expect(invited.url(), 'the token stays in no history').not.to.contain('#');
    await invited.getByLabel('Password').fill('harkara2026');
    await invited.getByRole('button', { name: 'Set password' }).click();
    await invited.getByText('Others guess it easily').waitFor();
    expect(await dashboard.look(invited, 'link')).to.deep.equal([]);
    await invited.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await invited.getByRole('button', { name: 'Set password' }).click();

    await invited.getByRole('heading', { name: 'Set up your second factor' }).waitFor();
    await invited.getByRole('button', { name: 'Continue' }).click();
    await invited.getByRole('img', { name: 'QR code' }).waitFor();
    expect(await dashboard.look(invited, 'second-factor')).to.deep.equal([]);
    const secret = await invited.locator('.copy-id code').first().textContent();
    await invited.getByLabel('Code', { exact: true }).fill(await generate({ secret: secret ?? '' }));
    await invited.getByRole('button', { name: 'Confirm' }).click();
    const codes = ((await invited.getByLabel('recovery codes', { exact: true }).textContent()) ?? '')
      .trim()
      .split('\n');
    expect(await dashboard.look(invited, 'recovery-codes')).to.deep.equal([]);
    await invited.getByLabel('I have stored them').check();
    await invited.getByRole('button', { name: 'Done' }).click();
    await invited.getByRole('navigation', { name: 'Main' }).waitFor();

    const again = await dashboard.visit('/dashboard/users');
    await again.getByLabel('Sign-in name').fill('ravi@example.com');
    await again.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await again.keyboard.press('Enter');
    await again.getByRole('button', { name: 'Use a recovery code' }).click();
    expect(await dashboard.look(again, 'recovery-code')).to.deep.equal([]);
    await again.getByLabel('Recovery code').fill(codes[0] ?? '');
    await again.getByRole('button', { name: 'Confirm' }).click();
    await again.getByRole('heading', { name: 'Users' }).waitFor();
    await again.getByRole('cell', { name: 'ravi@example.com' }).waitFor();
  });

  it('an old session is asked for the password, and what was to be sent is sent then', async () => {
    const { dashboard, db, account } = world;
    const old = { confirmedAt: new Date(Date.now() - 11 * 60_000) };
    const user = { username: 'late@example.com', password: await hash(PASSWORD) };
    const page = await dashboard.visit(
      '/dashboard/users',
      await signedIn(db, 'owner', account, { user, session: old }),
    );
    const invite = async (name: string) => {
      await page.getByRole('button', { name: 'Invite somebody' }).click();
      await page.getByLabel('Sign-in name').fill(name);
      await page.getByRole('button', { name: 'Make invitation' }).click();
    };
    await invite('meera@example.com');
    const asked = page.getByRole('dialog', { name: 'Enter your password again' });
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('Show your password').waitFor();
    await page.getByRole('button', { name: 'Make invitation' }).click();
    await asked.waitFor();
    expect(await dashboard.look(page, 'confirm')).to.deep.equal([]);
    await asked.getByLabel('Password').fill(PASSWORD);
    await asked.getByRole('button', { name: 'Go on' }).click();
    await asked.getByLabel('Code').fill(await generate({ secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP' }));
    await asked.getByRole('button', { name: 'Confirm' }).click();
    const made = page.getByRole('dialog', { name: 'Invitation' });
    await made.locator('code').waitFor();
    await made.getByRole('button', { name: 'Close' }).last().click();

    await invite('kiran@example.com');
    await made.locator('code').waitFor();
  });

  it('whoever has the same name and password in two accounts chooses one', async () => {
    const { dashboard, db, account } = world;
    const user = { username: 'twice@example.com', password: await hash(PASSWORD), totp: undefined } as never;
    await signedIn(db, 'viewer', account, { user });
    await signedIn(db, 'viewer', await makeAccount(db, 1, { name: 'Second Shop' }), { user });

    const page = await dashboard.visit('/dashboard');
    await page.getByLabel('Sign-in name').fill('twice@example.com');
    await page.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await page.keyboard.press('Enter');
    await page.getByLabel('Account').selectOption('Second Shop');
    expect(await dashboard.look(page, 'account')).to.deep.equal([]);
    await page.getByRole('button', { name: 'Confirm' }).click();
    await page.locator('span', { hasText: 'Second Shop' }).first().waitFor({ state: 'attached' }); // hidden on a phone
  });

  it('Escape takes nobody the recovery codes of a new app', async () => {
    const user = { username: 'moving@example.com', password: await hash(PASSWORD), totp: undefined } as never;
    const page = await world.dashboard.visit(
      '/dashboard/profile',
      await signedIn(world.db, 'viewer', world.account, { user }),
    );
    await page.getByRole('button', { name: 'Set up' }).click();
    const dialog = page.getByRole('dialog', { name: 'Set up your second factor' });
    await dialog.getByRole('textbox', { name: 'Your password' }).fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const secret = await dialog.locator('.copy-id code').first().textContent();
    await dialog.getByLabel('Code', { exact: true }).fill(await generate({ secret: secret ?? '' }));
    await dialog.getByRole('button', { name: 'Confirm' }).click();
    await dialog.getByLabel('recovery codes', { exact: true }).waitFor();

    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');

    await dialog.getByLabel('I have stored them').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('10 recovery codes are left.').waitFor();
  });

  it('a link that is spent says so', async () => {
    const page = await world.dashboard.visit(`/dashboard/link#${'x'.repeat(43)}`);

    await page.getByText('Link is no longer valid').waitFor();
    expect(await world.dashboard.look(page, 'link-spent')).to.deep.equal([]);
  });

  it('a session that ends while one types asks over the page, keeps the draft and sends it', async () => {
    const { db, account, dashboard } = world;
    const user = { username: 'typing@example.com', password: await hash(PASSWORD), totp: undefined } as never;
    const typing = await signedIn(db, 'viewer', account, { user });
    const page = await dashboard.visit('/dashboard/profile', typing);
    await page.getByLabel('Name (optional)').fill('Typed before it ended');
    await endSessions(db, typing.user._id);
    await page.getByRole('button', { name: 'Save name' }).click();

    const asked = page.getByRole('dialog', { name: 'Your session has ended' });
    await asked.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    expect(await dashboard.look(page, 'session-ended')).to.deep.equal([]);
    await asked.getByRole('button', { name: 'Sign in', exact: true }).click();

    await page.getByText('Name saved.').waitFor();
    await asked.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name (optional)').inputValue()).to.equal('Typed before it ended');
  });

  it('a page does nothing for somebody else who signs in in another tab, says so, and keeps the draft', async () => {
    const { db, account, dashboard } = world;
    const withPassword = async (name: string) =>
      ({ username: `${name}@example.com`, name, password: await hash(PASSWORD), totp: undefined }) as never;
    const asha = await signedIn(db, 'viewer', account, { user: await withPassword('asha') });
    const { user: ravi } = await signedIn(db, 'viewer', account, { user: await withPassword('other') });
    const page = await dashboard.visit('/dashboard/profile', asha);
    await page.getByLabel('Name (optional)').fill('Typed by Asha');

    const tab = await page.context().newPage();
    await tab.goto(`${dashboard.url}/dashboard/profile`);
    await tab.locator('.side .who').click();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByLabel('Sign-in name').fill(ravi.username);
    await tab.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await tab.keyboard.press('Enter');
    await tab.getByRole('heading', { level: 1, name: 'Your profile' }).waitFor();
    await page.getByRole('button', { name: 'Save name' }).click();

    const asked = page.getByRole('dialog', { name: 'Somebody else has signed in' });
    await asked.getByText('Nothing was done.').waitFor();
    const nameOf = async (_id: string) => (await findUser(db, _id as UserId))?.name;
    expect([await nameOf(asha.user._id), await nameOf(ravi._id)]).to.deep.equal(['asha', 'other']);
    expect(await dashboard.look(page, 'somebody-else')).to.deep.equal([]);
    await asked.getByRole('textbox', { name: 'Password' }).fill(PASSWORD);
    await asked.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('Name saved.').waitFor();
    expect([await nameOf(asha.user._id), await nameOf(ravi._id)]).to.deep.equal(['Typed by Asha', 'other']);
  });

  it('the box for a second factor shows what holds, also when the change fails', async () => {
    const page = await world.dashboard.visit('/dashboard/users', owner);
    const box = page.getByLabel('Everybody needs a second factor');
    await box.waitFor();
    await page.route('**/v2/account/sign-in', (route) =>
      route.request().method() === 'PATCH'
        ? route.fulfill({ status: 503, json: { title: 'Not now' } })
        : route.continue(),
    );
    await box.click();

    await page.getByText('Not now.').waitFor();
    await until(page, `!document.querySelector('[name=second_factor]').checked`);
  });

  it('an owner changes a role, disables and removes, and is asked before', async () => {
    const { db, account, dashboard } = world;
    const leaver = await signedIn(db, 'developer', account, {
      user: { username: 'leaver@example.com', name: 'Leaver' },
    });
    const theirs = await dashboard.visit('/dashboard/profile', leaver);
    const page = await dashboard.visit('/dashboard/users', owner);
    const opener = page.getByRole('button', { name: 'Leaver' });
    await opener.click();
    const panel = page.getByRole('dialog', { name: 'Leaver', exact: true });
    await panel.getByLabel('Role').selectOption('viewer');
    await panel.getByRole('button', { name: 'Change role' }).click();
    await panel.getByText('Role changed.').waitFor();
    expect(await dashboard.look(page, 'user')).to.deep.equal([]);

    await panel.getByRole('button', { name: 'Disable user' }).click();
    await page.getByRole('dialog', { name: 'Disable Leaver?' }).getByRole('button', { name: 'Disable user' }).click();
    await panel.getByText('disabled', { exact: true }).waitFor();
    await theirs.getByRole('button', { name: 'Save name' }).click();
    await theirs.getByRole('dialog', { name: 'Your session has ended' }).waitFor();

    await panel.getByRole('button', { name: 'Remove user' }).click();
    const confirm = page.getByRole('dialog', { name: 'Remove Leaver?' });
    const remove = confirm.getByRole('button', { name: 'Remove user' });
    expect(await remove.isDisabled()).to.equal(true);
    expect(await dashboard.look(page, 'remove-user')).to.deep.equal([]);
    await confirm.getByLabel('Type leaver@example.com').fill('leaver@example.com');
    await remove.click();
    await panel.waitFor({ state: 'detached' });
    await opener.waitFor({ state: 'detached' });
  });
});
