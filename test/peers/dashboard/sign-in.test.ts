import { hash } from '@node-rs/argon2';
import type { UserDocument } from '../../../shared/people/users/user.ts';
import { signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { openGatewayWithDashboard } from './world.ts';

describe('signing in to the dashboard', () => {
  const world = use(openGatewayWithDashboard);

  it('shows nobody anything but the way in, and opens the asked page after it', async () => {
    const { db, account, dashboard } = world;
    const { user } = await signedIn(db, 'viewer', account, {
      user: { username: 'asha@example.com', password: await hash('a long enough password') },
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
    await page.getByLabel('Password').fill('a long enough password');
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Credits' }).waitFor();
    expect(await dashboard.look(page, 'credits')).to.deep.equal([]);
  });
});
