import type { Page } from 'playwright-core';
import { endSessions } from '../../../shared/people/users/store.ts';
import { type Browser, signedIn } from '../../support/signed-in.ts';
import { use } from '../../support/use.ts';
import { LOOKS } from './access.ts';
import { openGatewayWithDashboard, until } from './world.ts';

describe('the frame around all pages of the dashboard', () => {
  const world = use(openGatewayWithDashboard);
  let owner: Browser;
  before(async () => {
    owner = await signedIn(world.db, 'owner', world.account, { user: { name: 'Asha <img src=x onerror=alert(1)>' } });
  });

  it('says on arrival where one is: in the title, and by the focus on the heading; Back goes back', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);
    expect(await focused(page)).to.equal('BODY');

    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    await until(page, `document.title === 'Users · Harkara'`);
    await until(page, `document.activeElement.tagName === 'H1'`);
    expect(await page.getByRole('link', { name: 'Users' }).getAttribute('aria-current')).to.equal('page');

    await page.goBack();
    await until(page, `document.title === 'Credits · Harkara'`);
    await page.getByRole('heading', { level: 1, name: 'Credits' }).waitFor();
  });

  it('is walked through by Tab in the order that one sees, each stop outlined', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);
    const stops: string[] = [];
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press('Tab');
      const stop: { name: string; outlined: boolean } = await page.evaluate(`(() => {
        const { activeElement } = document;
        const { outlineStyle, outlineWidth } = getComputedStyle(activeElement);
        const name = activeElement.innerText.trim().split('\\n')[0] || activeElement.getAttribute('aria-label') || activeElement.value || '';
        return { name, outlined: outlineStyle !== 'none' && outlineWidth !== '0px' };
      })()`);
      if (stop.name === '' || stops.includes(stop.name)) break;
      expect(stop.outlined, stop.name).to.equal(true);
      stops.push(stop.name);
    }

    const links = await page.locator('.side nav a').allInnerTexts();
    expect(stops[0]).to.equal('Skip to the page');
    expect(stops.filter((name) => links.includes(name))).to.deep.equal(links);
    await page.keyboard.press('Home');
  });

  it('asks the API nothing when nobody has signed in, so that no error stands in the console', async () => {
    const page = await world.dashboard.visit('/dashboard/profile');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.reload();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();

    expect(asked.filter((path) => path.startsWith('/v2/'))).to.deep.equal([]);
  });

  it('skips to the page by the first link', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');

    await until(page, `document.activeElement.id === 'main'`);
  });

  it('opens the navigation of a phone as a dialog; Escape closes it and gives the focus back', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner, LOOKS.phone);
    await page.getByRole('button', { name: 'Menu' }).click();
    const dialog = page.getByRole('dialog', { name: 'Menu' });
    await dialog.waitFor();
    expect(await page.evaluate(`document.activeElement.closest('dialog') !== null`)).to.equal(true);
    expect(await world.dashboard.look(page, 'menu')).to.deep.equal([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await until(page, `document.querySelector('.menu').checkVisibility()`);

    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await until(page, `document.activeElement.ariaLabel === 'Menu'`);

    await page.getByRole('button', { name: 'Menu' }).click();
    await dialog.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
  });

  it('14.3.3: keeps the chosen theme, and nothing else, in the browser', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);
    const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await background();
    await page.locator('.side .who').click();
    await page.locator('.side').getByLabel('Dark').check({ force: true });
    const dark = await background();

    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(dark).not.to.equal(light);
    expect(await background()).to.equal(dark);
    expect(await page.evaluate('Object.keys(localStorage)')).to.deep.equal(['theme']);
    expect(await page.evaluate('Object.keys(sessionStorage)')).to.deep.equal([]);
  });

  it('14.3.2: signs out: Back shows nothing of the account', async () => {
    const leaving = await signedIn(world.db, 'viewer', world.account);
    const page = await world.dashboard.visit('/dashboard/credits', leaving);
    await page.locator('.side .who').click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.goto(`${world.dashboard.url}/healthz`);
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('signs out also when the session has ended meanwhile', async () => {
    const leaving = await signedIn(world.db, 'viewer', world.account);
    const page = await world.dashboard.visit('/dashboard/credits', leaving);
    await page.locator('.side .who').click();
    await endSessions(world.db, leaving.user._id);
    // Pressed before the page can cover this button to ask for another sign-in.
    await page.locator('button', { hasText: 'Sign out' }).last().dispatchEvent('click');

    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByRole('heading', { name: 'Credits' }).waitFor({ state: 'detached' });
  });

  it('says that a page is for others, that there is none, and that nobody answers', async () => {
    const viewer = await signedIn(world.db, 'viewer', world.account);
    const page = await world.dashboard.visit('/dashboard/users', viewer);
    await page.getByText('This page is for owners only').waitFor();
    expect(await page.getByRole('link', { name: 'Users' }).count()).to.equal(0);
    expect(await world.dashboard.look(page, 'not-allowed')).to.deep.equal([]);

    await page.goto(`${world.dashboard.url}/dashboard/no/such/page`);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    expect(await world.dashboard.look(page, 'not-found')).to.deep.equal([]);

    await page.route('**/v2/session', (route) => route.abort());
    await page.goto(`${world.dashboard.url}/dashboard/credits`);
    await page.getByText('The gateway does not answer').waitFor();
    expect(await world.dashboard.look(page, 'no-connection')).to.deep.equal([]);
    await page.unroute('**/v2/session');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Credits' }).waitFor();
  });

  it('needs no other file once it is open: an update of the gateway takes no page away', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);
    await page.route('**/assets/**', (route) => route.abort());

    await page.getByRole('link', { name: 'Users' }).click();

    await page.getByRole('heading', { level: 1, name: 'Users' }).waitFor();
  });

  it('begins with the first page that one may see', async () => {
    const operator = await signedIn(world.db, 'operator');
    for (const [who, group] of [
      [owner, 'Overview'],
      [operator, ''],
    ] as const) {
      const page = await world.dashboard.visit('/dashboard', who);
      const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page]');
      await current.waitFor();

      expect(await page.getByText('Page not found').count()).to.equal(0);
      expect(await current.textContent()).to.contain(group);
    }
  });

  it('keeps a filter in the address, a time in UTC; Back and Clear undo it', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner);
    const from = page.getByLabel('From');
    await from.fill('2026-11-22T18:30');
    await page.getByLabel('What for').selectOption({ index: 1 });
    const instant = new Date('2026-11-22T18:30').toISOString();
    await until(
      page,
      `new URLSearchParams(location.search).get('since') === '${instant}' && location.search.includes('reason=')`,
    );
    expect(await from.inputValue()).to.equal('2026-11-22T18:30');

    await page.goBack();
    await until(page, `location.search.includes('since=') && !location.search.includes('reason=')`);
    await page.getByRole('button', { name: 'Clear filter' }).click();
    await until(page, `location.search === ''`);
    expect(await from.inputValue()).to.equal('');
  });

  it('fits a page that is zoomed to 200 %', async () => {
    const page = await world.dashboard.visit('/dashboard/credits', owner, { width: 640, colorScheme: 'light' });

    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
  });
});

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.tagName');
}
