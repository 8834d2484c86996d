import type { Page } from 'playwright-core';
import { PROBLEMS } from '../../../gateway/http/problem.ts';
import { createKey } from '../../../shared/people/keys/store.ts';
import { systemClock } from '../../../shared/platform/runtime/clock.ts';
import { makeAccount } from '../../support/make.ts';
import { use } from '../../support/use.ts';
import { focusFaults } from '../dashboard/access.ts';
import { openGatewayWithDashboard } from '../dashboard/world.ts';

describe('/docs, used in Chromium', () => {
  const world = use(openGatewayWithDashboard);
  let page: Page;
  before(async () => {
    page = await world.dashboard.visit('/docs');
  });

  for (const path of [
    '/docs',
    '/docs/operators',
    '/docs/internal',
    '/docs/python',
    '/docs/clients',
    '/docs/changelog',
  ]) {
    it(`${path}: nobody stumbles, light and dark, on a phone and on a wide screen`, async () => {
      const seen = await world.dashboard.visit(path);
      await seen.evaluate(FEWER);

      expect(await world.dashboard.look(seen, path.slice(1).replace('/', '-'))).to.deep.equal([]);
      await seen.context().close();
    });
  }

  it('the keyboard reaches what is in the contents, and one sees where', async () => {
    await page.evaluate('document.querySelector("main").remove()'); // Hundreds of similar samples.

    expect(await focusFaults(page)).to.deep.equal([]);
    await page.reload();
  });

  it('the search finds operations by a field, and errors by their name', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('dry_run');
    const shown = page.locator('nav li:visible');
    expect(await shown.getByText('Send one message').count()).to.equal(1);
    expect(await shown.getByText('Credits of the account').count()).to.equal(0);

    await page.keyboard.press('Escape');
    await page.keyboard.type('sender_not_allowed');
    await page.keyboard.press('Enter');

    await page.waitForURL(/#problem-sender_not_allowed$/);
    await page.locator('#problem-sender_not_allowed').waitFor();
    await page.getByLabel('Search this page').fill('');
  });

  it('a language is chosen for all samples at once, and what is shown is copied', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const sample = page.locator('#send .sample').first();
    await sample.getByRole('button', { name: 'Python' }).click();
    expect(await page.locator('#balance details:visible').count()).to.equal(1);

    await sample.getByRole('button', { name: /^Copy/ }).click();

    await sample.getByText('Copied').waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).to.match(/^import os\nimport requests\n.*print/s);
  });

  it('a request is tried with a test key; a live one is not taken', async () => {
    const { db } = world;
    const account = await makeAccount(db, 10);
    const wanted = { account, name: 'docs', scopes: ['send', 'read'] } as const;
    const [test, live] = [
      await createKey(db, systemClock, { ...wanted, test: true }),
      await createKey(db, systemClock, wanted),
    ];
    const sample = page.locator('#send .sample').first();
    await sample.getByRole('button', { name: 'Try it' }).click();

    await sample.getByLabel('Test key').fill(live.key);
    await sample.getByRole('button', { name: 'Send' }).click();
    await sample.getByText('A live key is not taken here.').waitFor();
    await sample.getByLabel('Test key').fill(test.key);
    await sample.getByRole('button', { name: 'Send' }).click();

    await sample.getByText('"status": "success"').waitFor();
    expect(await db.collection('messages').countDocuments({ account })).to.equal(0);
    expect(await page.locator('#balance').getByRole('button', { name: 'Try it' }).count()).to.equal(1);
    expect(await page.locator('#createKey').getByRole('button', { name: 'Try it' }).count()).to.equal(0);
  });

  it('without a script everything can be read', async () => {
    const plain = await world.dashboard.visit('/docs', undefined, undefined, { javaScriptEnabled: false });

    expect(await plain.locator('#send pre').first().isVisible()).to.equal(true);
    await plain.locator('#send').getByText('Node.js').first().click();
    expect(await plain.locator('#send details[open] pre').count()).to.be.greaterThan(1);
    await plain.context().close();
  });

  it('the type of a problem leads to its entry', async () => {
    const [slug = ''] = Object.keys(PROBLEMS);
    await page.goto(`${world.dashboard.url}/errors/${slug}`);

    expect(page.url()).to.equal(`${world.dashboard.url}/docs#problem-${slug}`);
  });
});

/** Keeps a few operations, as axe would take minutes. Axe measures positions, so all are laid out. */
const FEWER = `
  document.querySelectorAll('.operation:not(:nth-of-type(20n + 1))').forEach((one) => one.remove());
  document.querySelectorAll('.catalogue > div:nth-child(n + 4)').forEach((one) => one.remove());
  document.querySelectorAll('.nav-group li:nth-child(n + 4)').forEach((one) => one.remove());
  document.querySelectorAll('.operation').forEach((one) => { one.style.contentVisibility = 'visible'; });`;
